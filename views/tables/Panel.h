// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <optional>
#include <utility>

#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::views {

class ReportView;
struct Theme;

/// A panel under a timeline. Setters of values that a panel does not show do nothing. GUI thread.
class Panel : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    virtual void setTrace(TracePtr trace) = 0;
    /// Sets the selected range; nullopt for the whole trace.
    virtual void setRange(std::optional<TimeRange>) {}
    /// Sets the visible range in trace time.
    virtual void setVisibleRange(TimeRange) {}
    /// Sets the selected event; emits nothing.
    virtual void setEvent(EventRef) {}
    virtual void setTheme(const Theme&) {}

    /// Returns the table to copy and export, or null.
    virtual ReportView* table() const { return nullptr; }
    /// Returns true if content is being computed or waits for the panel to be shown.
    virtual bool isStale() const { return false; }

  signals:
    /// Emitted when the user requests all events with this name on the timeline.
    void nameActivated(const QString& name);
    /// Emitted when the user asks to see this event on the timeline.
    void eventActivated(lanescope::EventRef event);
    /// Emitted when the user selects this range.
    void rangeActivated(lanescope::TimeRange range);
    /// Emitted when content matches the trace and range set last.
    void updated();
};

/// A kind of panel, which is created when its tab is first shown.
struct PanelKind {
    QString name;  ///< The object name of its tab.
    QString title;
    /// Returns a new panel, connected to everything that a `Panel` has no setter and signal for.
    std::function<Panel*()> make;
    /// Returns false if the tab is hidden until requested. Null for always shown.
    std::function<bool(const Trace&)> isUseful;
    /// Returns a remark for the title, such as a count; empty for none. May be null.
    std::function<QString(const Trace&)> remark;
};

/// A panel that computes its content off the GUI thread, and only while it is visible.
class ComputedPanel : public Panel {
  public:
    void setTrace(TracePtr trace) override {
        trace_ = std::move(trace);
        range_.reset();
        invalidate();
    }
    void setRange(std::optional<TimeRange> range) override {
        if (range == range_) return;
        range_ = range;
        follow();
    }
    bool isStale() const override { return isStale_; }

  protected:
    explicit ComputedPanel(QWidget* parent) : Panel(parent), job_(new LatestJob(this)) {}

    /// Starts `job` for the content, or shows at once that there is none.
    virtual void refresh(LatestJob::Older older) = 0;
    LatestJob* job() const { return job_; }

    /// Computes again because more than the range has changed. Discards a running job.
    void invalidate() {
        isStale_ = true;
        job_->cancel();
        if (isVisible()) refresh(LatestJob::Older::Void);
    }
    /// Computes for another range. While a range is being dragged, the previous content stays visible.
    void follow() {
        isStale_ = true;
        if (isVisible())
            refresh(LatestJob::Older::Published);
        else
            job_->cancel();
    }
    /// Call it when content is shown.
    void settle() {
        isStale_ = job_->isOutdated();
        if (!isStale_) emit updated();
    }
    void showEvent(QShowEvent* event) override {
        QWidget::showEvent(event);
        if (isStale_) refresh(LatestJob::Older::Void);
    }

    TracePtr trace_;
    std::optional<TimeRange> range_;

  private:
    LatestJob* job_;
    bool isStale_ = false;
};

}  // namespace lanescope::views
