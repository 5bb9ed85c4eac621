// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/ComparisonJob.h"

#include <QPointer>

#include "views/text/shownText.h"

namespace lanescope::views {

using namespace analysis;
using namespace compare;

namespace {

compare::RunBand bandOf(const std::vector<ComparedRuns::Side>& runs, uint32_t worker) {
    std::vector<const analysis::WorkerSummary*> workers;
    for (const ComparedRuns::Side& run : runs) workers.push_back(&run.summary.workers[worker]);
    return compare::runBand(workers);
}

const RunSummary* knownSummary(const ComparedRunsPtr& known, const ComparisonJob::Run& run) {
    const auto isSame = [&run](const ComparedRuns::Side& side) {
        return side.trace == run.trace && side.selection == run.selection;
    };
    if (!known) return nullptr;
    if (isSame(known->baseline)) return &known->baseline.summary;
    for (const auto* sides : {&known->candidates, &known->baselineRuns, &known->candidateRuns})
        for (const ComparedRuns::Side& side : *sides)
            if (isSame(side)) return &side.summary;
    return nullptr;
}

/// Returns the time from the start of the first compared step to the end of the last.
TimeRange comparedRange(const WorkerSummary& worker) {
    if (worker.steps.empty()) return {};
    const StepSummary& last = worker.steps.back();
    return {worker.steps.front().startNs, last.startNs + last.wallNs};
}

std::vector<CounterDifference> countersOf(const ComparedRuns::Side& baseline, const ComparedRuns::Side& candidate,
                                          const RunComparison& comparison) {
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair || pair->baselineWorker == noIndex || pair->candidateWorker == noIndex) return {};
    return counterDifferences(*baseline.trace, comparedRange(baseline.summary.workers[pair->baselineWorker]),
                              *candidate.trace, comparedRange(candidate.summary.workers[pair->candidateWorker]));
}

/// Summarizes runs one after the other.
class Summing {
  public:
    Summing(const ComparedRunsPtr& known, const SummaryProgress& progress, size_t count)
        : known_(known), progress_(progress), count_(double(count)) {}

    Result<ComparedRuns::Side> operator()(const ComparisonJob::Run& run) {
        const double done = done_++;
        if (const RunSummary* summary = knownSummary(known_, run))
            return ComparedRuns::Side{run.trace, run.selection, *summary};
        Result<RunSummary> summary = summarizeRun(
            *run.trace, run.selection, [&](double fraction) { return progress_((done + fraction) / count_); });
        if (!summary) return fail(summary.error());
        return ComparedRuns::Side{run.trace, run.selection, std::move(*summary)};
    }
    Result<std::vector<ComparedRuns::Side>> operator()(const std::vector<ComparisonJob::Run>& runs) {
        std::vector<ComparedRuns::Side> sides;
        for (const ComparisonJob::Run& run : runs) {
            Result<ComparedRuns::Side> side = (*this)(run);
            if (!side) return fail(side.error());
            sides.push_back(std::move(*side));
        }
        return sides;
    }

  private:
    const ComparedRunsPtr& known_;
    const SummaryProgress& progress_;
    double count_;
    double done_ = 0;
};

Result<ComparedRunsPtr> compareAll(const ComparisonJob::Run& baseline,
                                   const std::vector<ComparisonJob::Run>& candidates, const ComparedRunsPtr& known,
                                   const SummaryProgress& progress) {
    auto runs = std::make_shared<ComparedRuns>();
    Summing sumUp(known, progress, candidates.size() + 1);
    Result<ComparedRuns::Side> first = sumUp(baseline);
    if (!first) return fail(first.error());
    runs->baseline = std::move(*first);
    Result<std::vector<ComparedRuns::Side>> others = sumUp(candidates);
    if (!others) return fail(others.error());
    runs->candidates = std::move(*others);
    for (const ComparedRuns::Side& side : runs->candidates) {
        runs->comparisons.push_back(compareRuns(BaselineRun{runs->baseline.summary}, CandidateRun{side.summary}));
        runs->counters.push_back(countersOf(runs->baseline, side, runs->comparisons.back()));
    }
    return ComparedRunsPtr(std::move(runs));
}

std::vector<RunSummary> summariesOf(const std::vector<ComparedRuns::Side>& sides) {
    std::vector<RunSummary> summaries;
    for (const ComparedRuns::Side& side : sides) summaries.push_back(side.summary);
    return summaries;
}

/// Sorts the ranks of every run like those of the first, because the comparison matches them by index.
void putInOrder(std::vector<ComparedRuns::Side>& sides) {
    for (ComparedRuns::Side& side : sides) {
        std::vector<WorkerSummary> ordered(side.summary.workers.size());
        for (const WorkerPair& pair : workerPairs(sides.front().summary, side.summary))
            ordered[pair.baseline] = side.summary.workers[pair.candidate];
        side.summary.workers = std::move(ordered);
    }
}

struct Programs {
    std::vector<ComparisonJob::Run> baseline, candidate;
    size_t shownBaseline = 0, shownCandidate = 0;
};

Result<ComparedRunsPtr> compareSets(const Programs& programs, const ComparedRunsPtr& known,
                                    const SummaryProgress& progress) {
    auto runs = std::make_shared<ComparedRuns>();
    Summing sumUp(known, progress, programs.baseline.size() + programs.candidate.size());
    Result<std::vector<ComparedRuns::Side>> before = sumUp(programs.baseline);
    if (!before) return fail(before.error());
    Result<std::vector<ComparedRuns::Side>> after = sumUp(programs.candidate);
    if (!after) return fail(after.error());
    Result<ProgramComparison> compared = comparePrograms(summariesOf(*before), summariesOf(*after));
    if (!compared) return fail(compared.error());
    putInOrder(*before);
    putInOrder(*after);
    runs->baseline = (*before)[programs.shownBaseline];
    runs->candidates = {(*after)[programs.shownCandidate]};
    runs->baselineRuns = std::move(*before);
    runs->candidateRuns = std::move(*after);
    runs->comparisons.push_back(std::move(compared->comparison));
    runs->counters.push_back(countersOf(runs->baseline, runs->candidates.front(), runs->comparisons.front()));
    return ComparedRunsPtr(std::move(runs));
}

}  // namespace

compare::RunBand ComparedPair::baselineBand() const { return bandOf(runs.baselineRuns, workers().baselineWorker); }

compare::RunBand ComparedPair::candidateBand() const { return bandOf(runs.candidateRuns, workers().candidateWorker); }

compare::ComparisonView ComparedPair::view() const {
    compare::ComparisonView view;
    view.candidates.push_back({"Candidate", &workers()});
    for (size_t other = 0; other < runs.candidates.size(); ++other) {
        if (other == candidate) continue;
        const compare::WorkerComparison* same = nullptr;
        for (const compare::WorkerComparison& each : runs.comparisons[other].workers)
            if (!same && each.baselineWorker == workers().baselineWorker) same = &each;
        view.candidates.push_back({runs.candidates[other].trace->title, same});
    }
    return view;
}

ComparisonJob::ComparisonJob(QObject* parent) : QObject(parent), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::ranOutOfMemory, this,
            [this] { emit failed(tr("There is not enough memory to compare these runs.")); });
    connect(job_, &LatestJob::finished, this, &ComparisonJob::finished);
}

void ComparisonJob::start(const Run& baseline, const std::vector<Run>& candidates) {
    start([baseline, candidates](const ComparedRunsPtr& known, const SummaryProgress& progress) {
        return compareAll(baseline, candidates, known, progress);
    });
}

void ComparisonJob::startPrograms(const std::vector<Run>& baseline, const std::vector<Run>& candidate,
                                  size_t shownBaseline, size_t shownCandidate) {
    start([programs = Programs{baseline, candidate, shownBaseline, shownCandidate}](const ComparedRunsPtr& known,
                                                                                    const SummaryProgress& progress) {
        return compareSets(programs, known, progress);
    });
}

void ComparisonJob::start(const Compare& compare) {
    // The worker thread may outlive this object, so it reports through the application.
    const auto report = [guard = QPointer<ComparisonJob>(this), isCancelled = job_->newCancelFlag()](double fraction) {
        postToGui([guard, isCancelled, fraction] {
            if (guard && !isCancelled->load()) emit guard->progressed(fraction);
        });
        return !isCancelled->load();
    };
    job_->start([this, compare, known = last_, report]() -> LatestJob::Publish {
        auto result = std::make_shared<Result<ComparedRunsPtr>>(compare(known, report));
        return [this, result] {
            if (!*result) {
                emit failed(toQString(result->error().sentence));
                return;
            }
            last_ = **result;
            emit compared(last_);
        };
    });
}

void ComparisonJob::cancel() {
    job_->cancel();
    emit finished();
}

}  // namespace lanescope::views
