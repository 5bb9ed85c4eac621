// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QToolButton>
#include <QWidget>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"
#include "views/tables/Panel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

/// The user's choice of the counted time: the selected range, the visible range, or the whole
/// trace. Stores the ranges and returns the counted one.
class ScopeChoice : public DropDown {
    Q_OBJECT
  public:
    enum class Scope { Selected, Visible, Whole };

    explicit ScopeChoice(QWidget* parent = nullptr);

    /// Clears the selected range for another trace, without a signal.
    void reset() { selected_.reset(); }
    void setSelectedRange(std::optional<TimeRange> range);
    void setVisibleRange(TimeRange range);
    /// Returns the counted range; nullopt for the whole trace.
    std::optional<TimeRange> counted() const;
    /// Returns, for example, "Selected range, 25 ms from 1.2 s" or "Whole trace".
    QString remark() const;

  signals:
    void countedChanged();

  private:
    Scope scope() const { return static_cast<Scope>(currentIndex()); }

    std::optional<TimeRange> selected_, visible_;
};

/// A panel with a choice of the counted time.
class ScopedPanel : public ComputedPanel {
  public:
    void setTrace(TracePtr trace) override {
        scopeChoice_->reset();
        ComputedPanel::setTrace(std::move(trace));
    }
    void setRange(std::optional<TimeRange> range) override { scopeChoice_->setSelectedRange(range); }
    /// The range is counted if the user chose this scope.
    void setVisibleRange(TimeRange range) override { scopeChoice_->setVisibleRange(range); }

  protected:
    using ComputedPanel::ComputedPanel;

    /// Creates the choice. Call it once, in the constructor.
    void makeScopeChoice(QWidget* parent) {
        scopeChoice_ = new ScopeChoice(parent);
        connect(scopeChoice_, &ScopeChoice::countedChanged, this, &ScopedPanel::follow);
    }

    ScopeChoice* scopeChoice_ = nullptr;
};

/// One report of a trace, over its whole range or a selected one. Builds the report off the GUI
/// thread and only while visible.
class ReportPanel : public ComputedPanel {
    Q_OBJECT
  public:
    /// `reportName` is one of `allReports()`, such as "cuda_gpu_kern_sum".
    explicit ReportPanel(const QString& reportName, QWidget* parent = nullptr);

    /// Adds a choice of reports, given by title and name.
    void offer(const std::vector<std::pair<QString, QString>>& reports);
    ReportView& view() const { return *view_; }
    ReportView* table() const override { return view_; }

  private:
    void refresh(LatestJob::Older older) override;
    void showReport(const Result<ReportTable>& report, std::optional<TimeRange> range);

    QString reportName_;
    QComboBox* choice_ = nullptr;
    ReportView* view_ = new ReportView(this);
    QLabel* notes_ = new PlainLabel(this);  ///< The notes of the report, below it; hidden without any.
};

/// Returns events as rows to choose from, in the given order: kind, start, duration, name. At most
/// `maxHitRows`, because longer lists are not read.
ReportTable hitTable(const Trace& trace, std::span<const EventRef> events);
inline constexpr size_t maxHitRows = 20'000;

/// Statistics of the selected time range, updated while it is dragged: GPU utilization, names by
/// time, rates of memory copies. Counts off the GUI thread and only while visible.
class SelectionPanel : public ComputedPanel {
    Q_OBJECT
  public:
    explicit SelectionPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setRange(std::optional<TimeRange> range) override;
    QString headline() const { return headline_->text(); }
    /// Returns the names; null without a range.
    ReportView* table() const override { return range_ ? names_ : nullptr; }

  private:
    struct Counted;
    void count();
    void refresh(LatestJob::Older older) override;
    void showCounted(const Counted& counted);
    void fillTracks();
    void choose(uint32_t track, bool isChosen);
    /// Returns the chosen groups with their subtracks; nullopt for all tracks.
    std::optional<std::vector<uint32_t>> chosenTracks() const;

    QLabel* headline_ = new WrappedLabel(this);
    QToolButton* tracksButton_ = new QToolButton(this);
    std::vector<uint32_t> chosen_;  ///< Top tracks; empty for all.
    QSplitter* splitter_ = new QSplitter(this);
    ReportView* names_ = new ReportView(this);
    ReportView* copies_ = new ReportView(this);
};

}  // namespace lanescope::views
