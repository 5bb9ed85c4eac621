// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/ComparisonJob.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>

#include "views/jobs/LatestJob.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace compare;

namespace {

const RunSummary* knownSummary(const ComparedRunsPtr& known, const ComparisonJob::Run& run) {
    const auto isSame = [&run](const ComparedRuns::Side& side) {
        return side.trace == run.trace && side.selection == run.selection;
    };
    if (!known) return nullptr;
    if (isSame(known->baseline)) return &known->baseline.summary;
    for (const ComparedRuns::Side& side : known->candidates)
        if (isSame(side)) return &side.summary;
    return nullptr;
}

/// From the first compared step to the end of the last.
TimeRange comparedRange(const WorkerSummary& worker) {
    if (worker.steps.empty()) return {};
    const StepSummary& last = worker.steps.back();
    return {worker.steps.front().startNs, last.startNs + last.wallNs};
}

std::vector<CounterDifference> countersOf(const ComparedRuns::Side& baseline,
                                          const ComparedRuns::Side& candidate,
                                          const RunComparison& comparison) {
    const WorkerComparison* pair = comparison.criticalPair();
    if (!pair || pair->baselineWorker == noIndex || pair->candidateWorker == noIndex) return {};
    return counterDifferences(
        *baseline.trace, comparedRange(baseline.summary.workers[pair->baselineWorker]),
        *candidate.trace, comparedRange(candidate.summary.workers[pair->candidateWorker]));
}

Result<ComparedRunsPtr> compareAll(const ComparisonJob::Run& baseline,
                                   const std::vector<ComparisonJob::Run>& candidates,
                                   const ComparedRunsPtr& known, const SummaryProgress& progress) {
    auto runs = std::make_shared<ComparedRuns>();
    const double count = double(candidates.size()) + 1;
    double done = 0;
    const auto sumUp = [&](const ComparisonJob::Run& run) -> Result<ComparedRuns::Side> {
        if (const RunSummary* summary = knownSummary(known, run))
            return ComparedRuns::Side{run.trace, run.selection, *summary};
        Result<RunSummary> summary = summarizeRun(*run.trace, run.selection, [&](double fraction) {
            return progress((done + fraction) / count);
        });
        if (!summary) return fail(summary.error());
        return ComparedRuns::Side{run.trace, run.selection, std::move(*summary)};
    };
    Result<ComparedRuns::Side> first = sumUp(baseline);
    if (!first) return fail(first.error());
    runs->baseline = std::move(*first);
    for (const ComparisonJob::Run& candidate : candidates) {
        done += 1;
        Result<ComparedRuns::Side> side = sumUp(candidate);
        if (!side) return fail(side.error());
        runs->candidates.push_back(std::move(*side));
        runs->comparisons.push_back(compareRuns(BaselineRun{runs->baseline.summary},
                                                CandidateRun{runs->candidates.back().summary}));
        runs->counters.push_back(
            countersOf(runs->baseline, runs->candidates.back(), runs->comparisons.back()));
    }
    return ComparedRunsPtr(std::move(runs));
}

}  // namespace

ComparisonJob::ComparisonJob(QObject* parent) : QObject(parent), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::finished, this, &ComparisonJob::finished);
}

ComparisonJob::~ComparisonJob() {
    if (isCancelled_) isCancelled_->store(true);
}

void ComparisonJob::start(const Run& baseline, const std::vector<Run>& candidates) {
    if (isCancelled_) isCancelled_->store(true);
    isCancelled_ = std::make_shared<std::atomic<bool>>(false);
    // The worker may outlive this object, so it reports by way of the application.
    const auto report = [guard = QPointer<ComparisonJob>(this),
                         isCancelled = isCancelled_](double fraction) {
        if (QCoreApplication* application = QCoreApplication::instance()) {
            QMetaObject::invokeMethod(
                application,
                [guard, isCancelled, fraction] {
                    if (guard && !isCancelled->load()) emit guard->progressed(fraction);
                },
                Qt::QueuedConnection);
        }
        return !isCancelled->load();
    };
    job_->start([this, baseline, candidates, known = last_, report]() -> LatestJob::Publish {
        auto result = std::make_shared<Result<ComparedRunsPtr>>(
            compareAll(baseline, candidates, known, report));
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
    if (isCancelled_) isCancelled_->store(true);
    job_->cancel();
    emit finished();
}

bool ComparisonJob::isRunning() const {
    return job_->isRunning();
}

}  // namespace lanescope::views
