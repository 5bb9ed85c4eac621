// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>
#include <functional>
#include <optional>

#include "model/trace/Trace.h"

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

}  // namespace lanescope::views
