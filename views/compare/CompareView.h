// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QSplitter>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareTables.h"
#include "views/compare/ComparedTimelines.h"
#include "views/compare/ComparisonJob.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/DetailsPanel.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/timeline/TimelineState.h"

class QBoxLayout;

namespace lanescope::compare {
struct StoredComparison;
}

namespace lanescope::views {

/// The comparison of a baseline with one or more candidates: the answer in words on top, the parts and durations of the
/// steps, both timelines track by track on one time axis, and tables of the differences. A range selected on the
/// timeline limits the comparison to it. Compares off the GUI thread.
class CompareView : public QWidget {
    Q_OBJECT
  public:
    explicit CompareView(QWidget* parent = nullptr);

    /// Sets the traces: all non-null, at least one candidate. Shows the first candidate.
    void setTraces(TracePtr baseline, std::vector<TracePtr> candidates);
    /// Compares two programs by several runs per side: all non-null, at least one per side. The run
    /// is the unit of the statistics; one run of each side is on the timelines.
    void setRuns(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate);
    void setTheme(const Theme& theme);
    /// Shows the comparison of the summaries stored in the traces until the first comparison is
    /// computed, so that the preview stays visible. Call after `setTraces`.
    void showStored(const compare::StoredComparison& stored);

    CompareSide& baseline() const { return *baseline_; }
    CompareSide& candidate() const { return *candidate_; }
    AlignmentBar& alignment() const { return *alignment_; }
    CompareTables& tables() const { return *tables_; }
    HeadlinePanel& headline() const { return *headline_; }
    StepChart& steps() const { return *steps_; }
    /// Returns the newest comparison; null before the first.
    const ComparedRunsPtr& runs() const { return runs_; }
    size_t shownCandidate() const { return shown_; }
    /// Returns true if a comparison is being computed.
    bool isBusy() const { return job_->isRunning() || names_->isRunning() || finder_->isRunning(); }

    /// Aligns both runs at this step and shows it; `step` is the index among the compared steps.
    void showStep(int step);
    void showCandidate(int index);
    /// With several runs per side, sets the runs on the timelines.
    void showRunsOf(int baseline, int candidate);
    bool hasSets() const { return !baselineRuns_.empty(); }
    const std::vector<TracePtr>& baselineRuns() const { return baselineRuns_; }
    const std::vector<TracePtr>& candidateRuns() const { return candidateRuns_; }
    /// Swaps the baseline and the visible candidate.
    void swapSides();

    /// Shows or hides the tables and the details of the selected event.
    void setTablesVisible(bool isVisible);
    void setDetailsVisible(bool isVisible);

    /// Returns the sizes of the parts, to restore them in later runs.
    QByteArray saveState() const { return parts_->saveState(); }
    void restoreState(const QByteArray& state) { parts_->restoreState(state); }

  signals:
    /// Emitted when everything visible matches the last request.
    void compared();
    /// Emitted when the sides were swapped.
    void titleChanged();
    /// Emitted when a place of the timelines was shown.
    void placeShown();

  protected:
    bool event(QEvent* event) override;

  private:
    void build();
    void arrangeForWidth();
    void connectParts();
    void addShortcuts();
    void connectSide(CompareSide* side, CompareSide* other);
    void pairTimelines();
    void selectRange(CompareSide* from, std::optional<TimeRange> traceRange);
    void findRangeNames();
    void startComparison();
    StepSelection selectionFor(const Trace& trace, const CompareSide& side) const;
    void showRuns(ComparedRunsPtr runs);
    void showPair();
    std::optional<ComparedPair> shownPair() const;
    /// Returns the shown ranks of the baseline and the candidate; null without a pair.
    std::pair<const analysis::WorkerSummary*, const analysis::WorkerSummary*> workers() const;
    void align();
    void setOrigins(int64_t baselineNs, int64_t candidateNs);
    void showCompared();
    void showLane();
    void scrollToWorker();
    void showDetails(const TracePtr& trace, EventRef event);
    void updatePanels();
    void showRow(const compare::RowLead& row);
    void showClause(int index);
    void findEvidence(const compare::Clause& clause);
    void showEvidence(const compare::Evidence& evidence);
    void showEvents(EventRef baselineEvent, EventRef candidateEvent);
    /// Shows the union of both ranges, on the shared axis; does nothing without any.
    void showBoth(std::optional<TimeRange> baseline, std::optional<TimeRange> candidate);
    void selectBoth(EventRef baseline, EventRef candidate);

    void beginTraces();

    std::vector<TracePtr> baselineRuns_, candidateRuns_;  ///< Empty unless a side has several runs.
    size_t shownBaselineRun_ = 0, shownCandidateRun_ = 0;
    TracePtr baselineTrace_;
    std::vector<TracePtr> candidateTraces_;
    size_t shown_ = 0;
    uint32_t shownPair_ = 0;
    bool isPairChosen_ = false;
    bool isFirstResult_ = true;
    ComparedRunsPtr runs_;
    std::optional<TimeRange> selectedRange_;
    EventRef lastBaselineEvent_, lastCandidateEvent_;
    bool isMirroring_ = false;
    VisibleRange* visibleRange_ = new VisibleRange(this);
    ComparisonJob* job_ = new ComparisonJob(this);
    LatestJob* names_ = new LatestJob(this);  ///< Finds ranges to choose the steps from.
    LatestJob* finder_ = new LatestJob(this);
    HeadlinePanel* headline_ = new HeadlinePanel(this);
    AlignmentBar* alignment_ = new AlignmentBar(this);
    WaterfallChart* waterfall_ = new WaterfallChart(this);
    StepChart* steps_ = new StepChart(this);
    CompareSide* baseline_ = new CompareSide(CompareSide::Role::Baseline, visibleRange_, this);
    CompareSide* candidate_ = new CompareSide(CompareSide::Role::Candidate, visibleRange_, this);
    DifferenceLane* lane_ = new DifferenceLane(*visibleRange_);
    QLabel* laneLabel_ = new QLabel(this);
    DetailsPanel* details_ = new DetailsPanel(this);
    CompareTables* tables_ = new CompareTables(this);
    QBoxLayout* top_ = nullptr;
    QSplitter* charts_ = new QSplitter(Qt::Horizontal, this);
    QSplitter* lower_ = new QSplitter(Qt::Horizontal, this);
    QSplitter* parts_ = new QSplitter(Qt::Vertical, this);
    bool hasTables_ = true;
    bool hasDetails_ = true;
};

}  // namespace lanescope::views
