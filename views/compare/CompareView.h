// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/compare/worstInstance.h"
#include "views/compare/ComparisonJob.h"
#include "views/theme/Theme.h"

class QBoxLayout;
class QLabel;
class QSplitter;

namespace lanescope::compare {
struct StoredComparison;
}

namespace lanescope::views {

class AlignmentBar;
class CompareSide;
class CompareTables;
class ComparisonJob;
class DetailsPanel;
class DifferenceLane;
class HeadlineCard;
class LatestJob;
class StepChart;
class TimelineView;
class VisibleRange;
class WaterfallChart;

/// A baseline against one candidate or more: the answer in words on top, then what the steps are
/// made of and how long each took, both timelines track by track on one time axis, and tables of
/// what changed. A range selected on the timeline narrows the comparison to it. Compares off the
/// GUI thread.
class CompareView : public QWidget {
    Q_OBJECT
  public:
    explicit CompareView(QWidget* parent = nullptr);

    /// All non-null, at least one candidate. The first candidate is shown.
    void setTraces(TracePtr baseline, std::vector<TracePtr> candidates);
    /// Two programs by several runs a side, all non-null, at least one a side: judged with the run
    /// as the unit, and one run of each is on the timelines.
    void setRuns(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate);
    void setTheme(const Theme& theme);
    /// What the summaries stored in the traces say, until the first comparison is made: an answer
    /// that was on the screen while the traces were read stays there. After `setTraces`.
    void showStored(const compare::StoredComparison& stored);

    CompareSide& baseline() const { return *baseline_; }
    CompareSide& candidate() const { return *candidate_; }
    VisibleRange& visibleRange() const { return *visibleRange_; }
    AlignmentBar& alignment() const { return *alignment_; }
    CompareTables& tables() const { return *tables_; }
    HeadlineCard& headline() const { return *headline_; }
    WaterfallChart& waterfall() const { return *waterfall_; }
    StepChart& steps() const { return *steps_; }
    DifferenceLane& lane() const { return *lane_; }
    DetailsPanel& details() const { return *details_; }
    /// The newest comparison; null before the first.
    const ComparedRunsPtr& runs() const { return runs_; }
    size_t shownCandidate() const { return shown_; }
    /// A comparison is being made.
    bool isBusy() const;
    /// On the shared axis.
    std::optional<TimeRange> selectedRange() const { return selectedRange_; }

    /// Lays this step of both runs on top of each other and shows it; by place among those
    /// compared.
    void showStep(int step);
    void showCandidate(int index);
    /// Of several runs a side, those on the timelines.
    void showRunsOf(int baseline, int candidate);
    bool hasSets() const { return !baselineRuns_.empty(); }
    const std::vector<TracePtr>& baselineRuns() const { return baselineRuns_; }
    const std::vector<TracePtr>& candidateRuns() const { return candidateRuns_; }
    /// The candidate on the screen becomes the baseline, and the other way round.
    void swapSides();

    /// Whether there are tables, and details of the selected event while there is one.
    void setTablesVisible(bool isVisible);
    void setDetailsVisible(bool isVisible);

    /// Sizes of the parts, to keep from run to run.
    QByteArray saveState() const;
    void restoreState(const QByteArray& state);

  signals:
    /// Everything on the screen belongs to what was asked for last.
    void compared();
    /// The sides were swapped.
    void titleChanged();
    /// Somebody was led to a place of the timelines.
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
    const analysis::WorkerSummary* workerOf(bool isCandidate) const;
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
    void showBoth(TimeRange onAxis);
    void selectBoth(EventRef baseline, EventRef candidate);

    void startSets();
    void beginTraces();

    std::vector<TracePtr> baselineRuns_, candidateRuns_;  ///< Of several runs a side; else empty.
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
    VisibleRange* visibleRange_;
    ComparisonJob* job_;
    LatestJob* names_;  ///< Of ranges to choose the steps from.
    LatestJob* finder_;
    HeadlineCard* headline_;
    AlignmentBar* alignment_;
    WaterfallChart* waterfall_;
    StepChart* steps_;
    CompareSide* baseline_;
    CompareSide* candidate_;
    DifferenceLane* lane_;
    QLabel* laneLabel_;
    DetailsPanel* details_;
    CompareTables* tables_;
    QBoxLayout* top_ = nullptr;
    QSplitter* charts_;
    QSplitter* lower_;
    QSplitter* parts_;
    bool hasTables_ = true;
    bool hasDetails_ = true;
};

}  // namespace lanescope::views
