// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison that are not about parts, contributors and ranges.
#include <algorithm>

#include "model/compare/ComparisonTable.h"
#include "model/compare/causes.h"
#include "model/compare/shownNumbers.h"
#include "model/compare/stepDifferences.h"
#include "model/values/kernelName.h"

namespace lanescope::compare {

namespace {

ComparisonTable tableCalled(std::string name, std::vector<ComparisonColumn> columns) {
    ComparisonTable table;
    table.name = std::move(name);
    table.columns = std::move(columns);
    return table;
}

std::string textOf(std::string_view text) {
    return std::string(text);
}

/// The part that grew most, or nothing.
Cell mostLostIn(const StepParts& before, const StepParts& after) {
    size_t worst = 0;
    for (size_t part = 1; part < stepPartCount; ++part)
        if (after.ns[part] - before.ns[part] > after.ns[worst] - before.ns[worst]) worst = part;
    if (after.ns[worst] <= before.ns[worst]) return {};
    return textOf(name(static_cast<StepPart>(worst)));
}

}  // namespace

ComparisonTable outlierTable(const RunComparison& comparison, Wording wording,
                             const WorkerSummary* baseline, const WorkerSummary* candidate) {
    const bool isForPrograms = wording == Wording::Programs;
    const auto contributorOf = [&](const OutlierStep& step) {
        return wording == Wording::Narrow ? textOf(withoutParameters(step.contributor))
                                          : step.contributor;
    };
    ComparisonTable table = tableCalled("outliers", {{"Run", Form::Text},
                                                     {"Worker", Form::Text},
                                                     {"Step", Form::Number},
                                                     {"Name", Form::Text},
                                                     {"Wall", Form::Time},
                                                     {"Excess", Form::Loss},
                                                     {"Part", Form::Text},
                                                     {"Part Excess", Form::Loss},
                                                     {"Contributor", Form::Text, Field::Name},
                                                     {"Range", Form::Text, Field::Range}});
    for (const RunOutlier& outlier : comparison.outliers) {
        const OutlierStep& step = outlier.step;
        RowLead lead;
        const WorkerSummary* worker = outlier.isCandidate ? candidate : baseline;
        for (size_t index = 0; worker && index < worker->steps.size(); ++index)
            if (worker->steps[index].number == step.number &&
                worker->steps[index].startNs == step.startNs)
                lead.step = static_cast<int>(index);
        table.add({textOf(outlier.isCandidate ? "candidate" : "baseline"), outlier.worker,
                   step.number, step.name, step.wallNs, step.excessNs,
                   textOf(isForPrograms ? identifier(step.part) : name(step.part)),
                   step.partExcessNs, contributorOf(step), step.path},
                  std::move(lead));
    }
    return table;
}

ComparisonTable workerTable(const RunComparison& comparison) {
    ComparisonTable table = tableCalled("workers", {{"Baseline", Form::Text},
                                                    {"Candidate", Form::Text},
                                                    {"Baseline Steps", Form::Count},
                                                    {"Candidate Steps", Form::Count},
                                                    {"Baseline Median", Form::Time},
                                                    {"Candidate Median", Form::Time},
                                                    {"Change", Form::Change},
                                                    {"p", Form::Text},
                                                    {"Outcome", Form::Text}});
    for (const WorkerComparison& pair : comparison.workers)
        table.add({pair.baselineLabel, pair.candidateLabel, pair.baseline.count,
                   pair.candidate.count, pair.baseline.medianNs, pair.candidate.medianNs,
                   pair.claim.percent, pValueText(pair.claim.pValue),
                   textOf(name(pair.claim.outcome))});
    return table;
}

ComparisonTable judgedTable(const WorkerComparison& pair) {
    ComparisonTable table = tableCalled("judged", {{"Judged", Form::Text},
                                                   {"Baseline", Form::Time},
                                                   {"Lost", Form::Loss},
                                                   {"Low", Form::Loss},
                                                   {"High", Form::Loss},
                                                   {"p", Form::Text},
                                                   {"Certain", Form::Text}});
    for (const QuantityClaim& claim : pair.quantities) {
        const bool isPart = claim.kind == QuantityKind::Part;
        RowLead lead;
        if (isPart)
            lead.part = claim.part;
        else if (const ContributorDifference* idle = mostChangedIdle(pair, claim))
            lead = leadTo(*idle);
        table.add({isPart ? textOf(name(claim.part)) : "idle in " + claim.path, claim.baselineNs,
                   claim.differenceNs, claim.lowNs, claim.highNs, pValueText(claim.adjustedPValue),
                   textOf(claim.isCertain ? "yes" : "no")},
                  std::move(lead));
    }
    return table;
}

ComparisonTable stepTable(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    ComparisonTable table = tableCalled("steps", {{"Step", Form::Number},
                                                  {"Name", Form::Text},
                                                  {"Baseline", Form::Time},
                                                  {"Candidate", Form::Time},
                                                  {"Lost", Form::Loss},
                                                  {"Lost in All", Form::Loss},
                                                  {"Most Lost in", Form::Text}});
    const std::vector<StepDifference> steps = stepDifferences(baseline, candidate);
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepDifference& step = steps[index];
        RowLead lead;
        lead.step = static_cast<int>(index);
        table.add({step.number, step.name, step.baselineNs, step.candidateNs, step.lostNs(),
                   step.lostInAllNs,
                   mostLostIn(baseline.steps[index].parts, candidate.steps[index].parts)},
                  std::move(lead));
    }
    return table;
}

ComparisonTable counterTable(std::span<const CounterDifference> counters) {
    ComparisonTable table = tableCalled("counters", {{"Name", Form::Text},
                                                     {"Of", Form::Text},
                                                     {"Baseline Mean", Form::Text},
                                                     {"Candidate Mean", Form::Text},
                                                     {"Change", Form::Change},
                                                     {"Baseline Greatest", Form::Text},
                                                     {"Candidate Greatest", Form::Text}});
    for (const CounterDifference& each : counters) {
        RowLead lead;
        lead.baselineEvent = each.baseline.highest;
        lead.candidateEvent = each.candidate.highest;
        table.add({each.name, each.owner, formatCounter(each.baseline.mean, each.unit),
                   formatCounter(each.candidate.mean, each.unit), each.changePercent(),
                   formatCounter(each.baseline.maximum, each.unit),
                   formatCounter(each.candidate.maximum, each.unit)},
                  std::move(lead));
    }
    return table;
}

}  // namespace lanescope::compare
