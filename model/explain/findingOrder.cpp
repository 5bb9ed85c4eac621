// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingOrder.h"

#include <algorithm>
#include <optional>

#include "model/explain/launchedWork.h"

namespace lanescope::explain {

using namespace compare;

namespace {

using Findings = std::vector<Finding>;

bool isPeriod(const Finding& each) {
    return each.pattern && each.pattern->kind == PatternKind::Period;
}

bool isOfTheSame(const Finding& a, const Finding& b) {
    return a.worker == b.worker && !a.contributor.empty() && a.contributor == b.contributor;
}

/// A step that is longer every so often says more than the part in which it is longer, where that
/// is more of it than all the rest: when, and so what.
void putPeriodFirst(Findings& findings) {
    const auto period = std::ranges::find_if(findings, isPeriod);
    if (period == findings.end()) return;
    const auto isMostlyOfIt = [&](const Finding& each) {
        return isOfTheSame(each, *period) &&
               period->mostGainNs > each.mostGainNs - period->mostGainNs;
    };
    const auto first = std::find_if(findings.begin(), period, isMostlyOfIt);
    std::rotate(first, period, period + 1);
}

/// Which part of the step all of a finding is of that tells what a thread did; else nothing.
std::optional<StepPart> partOf(Rule rule) {
    switch (rule) {
        case Rule::HostWaits:
        case Rule::HostWork:
        case Rule::LaunchBound:
            return StepPart::LaunchBound;
        case Rule::InputData:
            return StepPart::DataLoading;
        case Rule::HostSynchronization:
            return StepPart::Synchronization;
        default:
            return std::nullopt;
    }
}

double meanOfPart(const WorkerSummary& worker, StepPart part) {
    double sumNs = 0;
    for (const StepSummary& step : worker.steps) sumNs += static_cast<double>(step.parts[part]);
    return sumNs / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

/// Whether more than half of what a pattern costs is time that the finding tells of: both are of
/// one part, which has no room for them beside each other.
bool isCauseOf(const RunSummary& run, const Finding& each, const Finding& pattern) {
    const StepPattern& found = *pattern.pattern;
    if (each.worker != pattern.worker || partOf(each.rule) != found.part) return false;
    const double excessNs = static_cast<double>(found.partExcessNs) * found.share;
    const double sharedNs = static_cast<double>(each.mostGainNs) + excessNs -
                            meanOfPart(run.workers[each.worker], found.part);
    return sharedNs > static_cast<double>(pattern.mostGainNs) / 2;
}

/// That some steps are longer, in no order or from one on, says less than what they are longer by.
void putCauseBeforePattern(const RunSummary& run, Findings& findings) {
    const auto pattern = std::ranges::find_if(
        findings, [](const Finding& each) { return each.pattern && !isPeriod(each); });
    if (pattern == findings.end()) return;
    const auto cause = std::find_if(pattern + 1, findings.end(), [&](const Finding& each) {
        return isCauseOf(run, each, *pattern) ||
               (isOfTheSame(each, *pattern) &&
                each.mostGainNs > pattern->mostGainNs - each.mostGainNs);
    });
    if (cause != findings.end()) std::rotate(pattern, pattern + 1, cause + 1);
}

void putWaitsBeforeLaunches(const RunSummary& run, Findings& findings) {
    auto launches = std::ranges::find(findings, Rule::LaunchBound, &Finding::rule);
    // Too little for a rule of its own, late launches are most of all other idle time.
    if (launches == findings.end())
        launches = std::ranges::find(findings, Rule::GpuIdle, &Finding::rule);
    if (launches == findings.end() || !isDrained(run.workers[launches->worker])) return;
    const auto waits = std::find_if(launches, findings.end(), [](const Finding& each) {
        return each.rule == Rule::HostSynchronization;
    });
    if (waits != findings.end()) std::rotate(launches, waits, waits + 1);
}

}  // namespace

void orderFindings(const RunSummary& run, Findings& findings) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return a.mostGainNs > b.mostGainNs;
    });
    putPeriodFirst(findings);
    putCauseBeforePattern(run, findings);
    putWaitsBeforeLaunches(run, findings);
}

}  // namespace lanescope::explain
