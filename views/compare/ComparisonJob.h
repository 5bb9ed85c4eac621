// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/compare/ComparisonView.h"
#include "model/compare/chartBars.h"
#include "model/compare/counterDifferences.h"
#include "model/trace/Trace.h"

namespace lanescope::views {

/// What one comparison of a baseline with one or more candidates came to. Immutable.
struct ComparedRuns {
    struct Side {
        TracePtr trace;
        StepSelection selection;
        analysis::RunSummary summary;
    };
    Side baseline;  ///< Of several runs a side the one on the screen.
    std::vector<Side> candidates;
    /// All runs of either program, where each is more than one run or both are; else empty. Their
    /// workers stand in the order of the first run's.
    std::vector<Side> baselineRuns, candidateRuns;
    std::vector<compare::RunComparison> comparisons;  ///< By candidate.
    /// By candidate, over the compared steps of the pair that its answer is about.
    std::vector<std::vector<compare::CounterDifference>> counters;
};

using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

/// Which candidate, and which pair of workers of its comparison, is on the screen.
struct ComparedPair {
    const ComparedRuns& runs;
    size_t candidate = 0;
    uint32_t pair = 0;

    const compare::WorkerComparison& workers() const {
        return runs.comparisons[candidate].workers[pair];
    }
    const analysis::WorkerSummary& baselineWorker() const {
        return runs.baseline.summary.workers[workers().baselineWorker];
    }
    const analysis::WorkerSummary& candidateWorker() const {
        return runs.candidates[candidate].summary.workers[workers().candidateWorker];
    }
    /// Of several runs a side, how far the median steps of these workers lie apart; else nothing.
    compare::RunBand baselineBand() const;
    compare::RunBand candidateBand() const;
    /// The candidate on the screen, then all others; those without a counterpart of the baseline's
    /// worker have no numbers.
    compare::ComparisonView view() const;
};

class LatestJob;

/// Sums up and compares runs off the GUI thread; only the newest comparison asked for is published.
/// Construct, start and destroy on the GUI thread.
class ComparisonJob : public QObject {
    Q_OBJECT
  public:
    struct Run {
        TracePtr trace;
        StepSelection selection;
    };

    explicit ComparisonJob(QObject* parent = nullptr);
    ~ComparisonJob() override;

    /// Makes void what is running. Summaries of runs that were summed up like that before are kept.
    void start(const Run& baseline, const std::vector<Run>& candidates);
    /// The same of two programs by several runs a side, judged with the run as the unit. The runs
    /// of these numbers are those on the screen.
    void startPrograms(const std::vector<Run>& baseline, const std::vector<Run>& candidate,
                       size_t shownBaseline, size_t shownCandidate);
    /// Stops as soon as the work looks up; nothing is published.
    void cancel();
    bool isRunning() const;

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction);
    void compared(lanescope::views::ComparedRunsPtr runs);
    /// Why nothing could be compared.
    void failed(const QString& sentence);
    /// Whatever came of it.
    void finished();

  private:
    using Compare = std::function<Result<ComparedRunsPtr>(const ComparedRunsPtr& known,
                                                          const analysis::SummaryProgress&)>;
    void start(const Compare& compare);

    LatestJob* job_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
    ComparedRunsPtr last_;
};

}  // namespace lanescope::views
