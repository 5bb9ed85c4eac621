// SPDX-License-Identifier: Apache-2.0
#include "model/explain/Explanation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "model/explain/RunFindings.h"
#include "model/explain/sayExplanation.h"
#include "model/trace/healthNotes.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Maximum half interval of a forecast, as a share of the mean step. A finding with a wider forecast shows only its
/// bound.
constexpr double maxMargin = 0.1;

/// Sets the savings of findings about all steps of the critical worker.
void addSavings(const RunSummary& run, std::vector<Finding>& findings) {
    for (Finding& finding : findings) {
        const WorkerSummary& worker = run.workers[finding.worker];
        const auto forecast = std::ranges::find(worker.forecasts, finding.rule->subject, &StepForecast::subject);
        if (!finding.rule->subject || forecast == worker.forecasts.end()) continue;
        // The saving of several findings is not that of each.
        const auto isAlike = [&](const Finding& each) {
            return each.worker == finding.worker && each.rule->subject == finding.rule->subject;
        };
        if (std::ranges::count_if(findings, isAlike) > 1) continue;
        Saving saving{forecast->savedNs, forecast->marginNs};
        const double meanNs = static_cast<double>(worker.totalWallNs()) / static_cast<double>(worker.steps.size());
        if (static_cast<double>(saving.marginNs) > maxMargin * meanNs) continue;
        saving.ns = std::clamp<int64_t>(saving.ns, 0, finding.maxGainNs);
        finding.saving = saving;
    }
}

/// Sorts findings by saving or time, but a cause before its consequences (`Rule::order`).
void orderFindings(const RunSummary& run, RuleList rules, std::vector<Finding>& findings) {
    const auto gainNs = [](const Finding& each) { return each.saving ? each.saving->ns : each.maxGainNs; };
    std::stable_sort(findings.begin(), findings.end(),
                     [gainNs](const Finding& a, const Finding& b) { return gainNs(a) > gainNs(b); });
    for (const Rule* rule : rules)
        if (rule->order != nullptr) rule->order(run, findings);
}

/// Returns the part of the steps that a finding about all of them is about; nullopt if it is about several.
std::optional<StepPart> partOf(const RunSummary& run, const Finding& finding) {
    const std::vector<Contributor>& all = run.workers[finding.worker].contributors;
    const auto main = std::ranges::find_if(all, [&](const Contributor& each) {
        return !each.name.empty() && each.name == finding.contributor && each.path == finding.path;
    });
    return main == all.end() ? finding.rule->part : main->part;
}

/// Gives each finding about all steps its own step as an example, the one with most of its part.
void distinguishPlaces(const RunSummary& run, std::vector<Finding>& findings) {
    const auto hasOwn = [](const Finding& each) {
        return each.rule->place != nullptr || each.rule->isOfSingleSteps() || !each.atNs;
    };
    std::set<std::pair<uint32_t, int64_t>> used;
    for (const Finding& each : findings)
        if (hasOwn(each) && each.atNs) used.emplace(each.worker, *each.atNs);
    for (Finding& each : findings) {
        if (hasOwn(each)) continue;
        const std::optional<StepPart> part = partOf(run, each);
        const StepSummary* most = nullptr;
        const auto nsOf = [&](const StepSummary& step) { return part ? step.parts[*part] : step.wallNs; };
        for (const StepSummary& step : run.workers[each.worker].steps)
            if (!used.contains({each.worker, step.startNs}) && (most == nullptr || nsOf(step) > nsOf(*most)))
                most = &step;
        if (most != nullptr) each.atNs = most->startNs;
        used.emplace(each.worker, *each.atNs);
    }
}

}  // namespace

Explanation explain(const RunSummary& run, const MutedRules& muted, RuleList rules) {
    Explanation made;
    RunFindings found(run, made);
    // With NCCL's kernels only it is unknown when the GPU did nothing, or nothing else.
    const bool isNcclOnly = run.facts.producerKind == ProducerKind::NcclInspector;
    if (found.hasTime())
        for (const Rule* rule : rules)
            if (!isNcclOnly || rule->isForNcclOnly) found.evaluate(*rule, muted.contains(rule));
    addSavings(run, made.findings);
    orderFindings(run, rules, made.findings);
    distinguishPlaces(run, made.findings);
    writeExplanation(run, made);
    return made;
}

}  // namespace lanescope::explain
