// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "model/compare/RunComparison.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::views {

/// The result of one comparison of a baseline with one or more candidates. Immutable.
struct ComparedRuns {
    struct Side {
        TracePtr trace;
        StepSelection selection;
        analysis::RunSummary summary;
    };
    Side baseline;  ///< With several runs per side, the visible one.
    std::vector<Side> candidates;
    /// All runs of both programs if a side has several; else empty. Their ranks are in the order of the first run's.
    std::vector<Side> baselineRuns, candidateRuns;
    std::vector<compare::RunComparison> comparisons;  ///< By candidate.
    /// By candidate, over the compared steps of the pair in its answer.
    std::vector<std::vector<compare::CounterDifference>> counters;
};

using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

/// The visible candidate and pair of ranks of its comparison.
struct ComparedPair {
    const ComparedRuns& runs;
    size_t candidate = 0;
    uint32_t pair = 0;

    const compare::WorkerComparison& workers() const { return runs.comparisons[candidate].workers[pair]; }
    const analysis::WorkerSummary& baselineWorker() const {
        return runs.baseline.summary.workers[workers().baselineWorker];
    }
    const analysis::WorkerSummary& candidateWorker() const {
        return runs.candidates[candidate].summary.workers[workers().candidateWorker];
    }
    /// With several runs per side, returns the spread of the median steps of these ranks; else empty.
    compare::RunBand baselineBand() const;
    compare::RunBand candidateBand() const;
    /// Returns the visible candidate first, then all others; candidates without a counterpart of
    /// the baseline's rank have no numbers.
    compare::ComparisonView view() const;
};

/// Summarizes and compares runs off the GUI thread; publishes only the newest comparison.
/// Construct, start and destroy on the GUI thread.
class ComparisonJob : public QObject {
    Q_OBJECT
  public:
    struct Run {
        TracePtr trace;
        StepSelection selection;
    };

    explicit ComparisonJob(QObject* parent = nullptr);

    /// Cancels the running job. Reuses summaries of runs that were summarized with the same options.
    void start(const Run& baseline, const std::vector<Run>& candidates);
    /// Compares two programs by several runs per side, with the run as the unit. The visible runs
    /// are those with these indices.
    void startPrograms(const std::vector<Run>& baseline, const std::vector<Run>& candidate, size_t shownBaseline,
                       size_t shownCandidate);
    /// Stops at the next cancellation point; publishes nothing.
    void cancel();
    bool isRunning() const { return job_->isRunning(); }

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction);
    void compared(lanescope::views::ComparedRunsPtr runs);
    /// Reports the error that prevented a comparison.
    void failed(const QString& sentence);
    /// Emitted after success and failure.
    void finished();

  private:
    using Compare =
        std::function<Result<ComparedRunsPtr>(const ComparedRunsPtr& known, const analysis::SummaryProgress&)>;
    void start(const Compare& compare);

    LatestJob* job_;
    ComparedRunsPtr last_;
};

}  // namespace lanescope::views
