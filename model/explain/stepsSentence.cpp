// SPDX-License-Identifier: Apache-2.0
#include "model/explain/stepsSentence.h"

#include <fmt/format.h>

#include "model/compare/shownNumbers.h"
#include "model/steps/requests.h"
#include "model/values/formatValue.h"
#include "model/values/knownRangeName.h"

namespace lanescope::explain {

using namespace compare;

namespace {

/// Of the work of the GPU in the steps and between them, from which on the latter is worth a word.
constexpr double leastBetween = 0.03;

std::string percent(double share) {
    return percentText(100 * share) + " %";
}

std::string spanText(int64_t ns) {
    return timeText(static_cast<double>(ns));
}

/// What the steps are called, as people know it.
std::string patternText(const RunSummary& run) {
    if (run.source == StepSource::KernelPattern)
        return fmt::format(", each from {} on", shortContributorName(run.pattern));
    if (run.pattern.empty()) return {};
    const std::string known = knownRangeName(run.pattern);
    const std::string name = printable(known.empty() ? run.pattern : known);
    if (run.rangesPerStep > 1)
        return fmt::format(", each of {} \"{}\" up to an update of the weights", run.rangesPerStep,
                           name);
    return fmt::format(" \"{}\"", name);
}

/// That work lies between the steps, as between ranges that were named.
std::string pausesSentence(const WorkerSummary& of) {
    const int64_t workNs = of.pauses.ns - of.pauses.idleNs;
    int64_t inStepsNs = 0;
    const StepParts parts = of.totalParts();
    for (size_t index = 0; index < stepPartCount; ++index)
        if (const auto part = static_cast<StepPart>(index); !isIdle(part)) inStepsNs += parts[part];
    if (workNs <= 0 ||
        static_cast<double>(workNs) < leastBetween * static_cast<double>(workNs + inStepsNs))
        return {};
    return fmt::format(
        " Between them, in {} in all, the GPU worked for {} that count for none of them.",
        spanText(of.pauses.ns), spanText(workNs));
}

/// Why steps are called requests, and what was seen between them; empty of steps.
std::string requestsSentence(const RunSummary& run, const WorkerSummary& of) {
    if (run.kind != StepKind::Request) return {};
    std::string text;
    if (run.source == StepSource::KernelPattern || !isRequestName(run.pattern))
        text =
            " They count as requests since nothing of a training was seen and the program waited "
            "between them.";
    if (of.rest.ns > 0)
        text += fmt::format(" Between two of them it was seen to wait {}: for {} in all at least.",
                            printable(of.rest.name), spanText(of.rest.ns));
    return text;
}

}  // namespace

std::string stepsSentence(const RunSummary& run) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex || run.source == StepSource::WholeRun) return {};
    const WorkerSummary& of = run.workers[critical];
    std::string text =
        fmt::format("{} of {} {}s", of.steps.size(), of.foundSteps, identifier(run.kind));
    text += patternText(run);
    if (const auto share = of.coverage(); share)
        text +=
            fmt::format(", {} of the time from the first to the last GPU work", percent(*share));
    if (of.warmUpSteps > 0) text += fmt::format(", {} left out as warm-up", of.warmUpSteps);
    if (of.isLastLeftOut) text += ", the last since no next one ends it";
    if (const std::string ahead = of.aheadText(); !ahead.empty()) text += ", " + ahead;
    return text + "." + pausesSentence(of) + requestsSentence(run, of);
}

}  // namespace lanescope::explain
