// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/ExplainJob.h"

#include <utility>

#include "model/analysis/runConditions.h"
#include "model/analysis/storedSummary.h"
#include "model/index/indexedSummary.h"
#include "model/remote/RemoteTrace.h"
#include "views/text/shownText.h"

namespace lanescope::views {

using namespace analysis;

namespace {

Result<RunSummary> summaryOf(const Trace& trace, const StepSelection& selection, const std::atomic<bool>& isCancelled) {
    if (const auto remote = remoteOf(trace)) {
        auto summary = remote->summary(selection, [&isCancelled] { return !isCancelled.load(); });
        if (summary || selection.isDefault() || remote->isBroken() || isCancelled.load()) return summary;
    } else if (selection.isDefault())
        if (std::optional<RunSummary> stored = readRunSummary(trace.path)) return std::move(*stored);
    if (selection.isDefault() && trace.backing)
        if (std::optional<RunSummary> stored = readIndexedSummary(trace.path)) return std::move(*stored);
    return summarizeRun(trace, selection, [&isCancelled](double) { return !isCancelled.load(); });
}

}  // namespace

ExplainedRun::ExplainedRun(RunSummary made)
    : summary(std::move(made)), grid(summary), steady(explain::steadySteps(summary)) {}

bool ExplainedRun::hasPlainSteps() const {
    constexpr size_t minUnnamedSteps = 3;
    return steady && (summary.source != StepSource::NvtxRange || minStepsOf(summary.pattern) < minUnnamedSteps);
}

void ExplainedRun::findRanges(const Trace& trace) {
    constexpr double nearlyAll = 0.8;
    if (steady) {
        ranges = rangesOf(trace, summary.pattern);
        return;
    }
    ranges = mainRanges(trace);
    const std::optional<TimeRange> work = gpuWorkSpan(trace);
    std::optional<TimeRange> both = work;
    if (ranges) both = both ? both->united(ranges->span) : ranges->span;
    const auto wholeNs = static_cast<double>(trace.timelineRange().durationNs());
    // CPU ranges may go on after the GPUs have ended, or start before them.
    for (const std::optional<TimeRange>& each : {both, work}) {
        if (!each || each->isEmpty()) continue;
        if (static_cast<double>(each->durationNs()) >= nearlyAll * wholeNs) continue;
        elsewhere = each;
        return;
    }
}

ExplainedRunPtr withWarningsOf(ExplainedRunPtr run, const Trace& trace) {
    std::vector<HealthNote> warnings = warningsOf(trace);
    if (warnings == run->summary.facts.healthWarnings) return run;
    auto changed = std::make_shared<ExplainedRun>(*run);
    changed->summary.facts.healthWarnings = std::move(warnings);
    return changed;
}

ExplainJob::ExplainJob(QObject* parent) : QObject(parent), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::ranOutOfMemory, this,
            [this] { emit failed(tr("There is not enough memory to explain this run.")); });
}

void ExplainJob::start(TracePtr trace, const StepSelection& selection) {
    cancel();
    job_->start([this, trace = std::move(trace), selection, flag = job_->newCancelFlag()]() -> LatestJob::Publish {
        Result<RunSummary> summary = summaryOf(*trace, selection, *flag);
        if (!summary) return [this, sentence = toQString(summary.error().sentence)] { emit failed(sentence); };
        auto made = std::make_shared<ExplainedRun>(std::move(*summary));
        if (!made->hasPlainSteps()) made->findRanges(*trace);
        auto run = withWarningsOf(made, *trace);
        return [this, run = std::move(run)] { emit explained(run); };
    });
}

}  // namespace lanescope::views
