// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "model/analysis/StepParts.h"
#include "model/format/GlobalId.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ExplanationReport.h"
#include "model/text/formatValue.h"

namespace lanescope::report {

using Json = nlohmann::ordered_json;

using namespace analysis;
using namespace compare;

namespace {

constexpr int comparisonSchemaVersion = 4, explanationSchemaVersion = 1;

/// Returns nanoseconds by the identifiers of the parts.
Json partsJson(const StepParts& parts) {
    Json json = Json::object();
    for (const StepPart part : allStepParts) json[std::string(identifier(part))] = parts[part];
    return json;
}

Json orNull(const auto& optional) { return optional ? Json(*optional) : Json(nullptr); }

Json orNull(auto value, bool isKnown) { return isKnown ? Json(std::move(value)) : Json(nullptr); }

/// Returns an array with what `jsonOf` returns for each.
Json arrayOf(const auto& all, auto jsonOf) {
    Json array = Json::array();
    for (const auto& each : all) array.push_back(jsonOf(each));
    return array;
}

Json stepJson(const StepSummary& step) {
    return {{"number", step.number},           {"name", step.name},
            {"startNs", step.startNs},         {"wallNs", step.wallNs},
            {"onCpuNs", orNull(step.onCpuNs)}, {"partsNs", partsJson(step.parts)}};
}

Json workerJson(const WorkerSummary& worker) {
    return {{"label", worker.label()},
            {"pid", worker.pid},
            {"rank", orNull(worker.rank)},
            {"processName", worker.processName},
            {"gpu", worker.gpuId},
            {"gpuName", worker.gpuName},
            {"endedAbnormally", worker.endedAbnormally},
            {"foundSteps", worker.foundSteps},
            {"warmUpSteps", worker.warmUpSteps},
            {"steps", arrayOf(worker.steps, stepJson)}};
}

Json noteJson(const HealthNote& note) {
    return {{"severity", identifier(note.severity)},
            {"code", codeOf(note)},
            {"pid", note.globalPid ? Json(processIdOf(*note.globalPid)) : Json()},
            {"count", orNull(note.count)},
            {"sentence", note.sentence}};
}

Json runJson(const RunSummary& run) {
    const SummaryFacts& facts = run.facts;
    const NvlinkTraffic& nvlink = run.nvlink;
    const Json traffic{{"use", identifier(nvlink.use)},
                       {"evidence", identifier(nvlink.evidence)},
                       {"bytesPerStep", orNull(nvlink.bytesPerStep)},
                       {"stepEvidence", identifier(nvlink.stepEvidence)},
                       {"bestBytesPerSecond", orNull(nvlink.bestBytesPerSecond, nvlink.bestBytesPerSecond > 0)}};
    return {{"title", facts.title},
            {"producer", facts.producer},
            {"commandLine", facts.commandLine},
            {"driver", facts.driver},
            {"cuda", facts.cuda},
            {"gpuNames", facts.gpuNames},
            {"host", facts.host},
            {"startUtcNs", orNull(facts.startUtcNs, facts.startUtcNs > 0)},
            {"smClockHz", orNull(facts.smClockHz, facts.smClockHz > 0)},
            {"otherGpuProcesses", facts.otherGpuProcesses},
            {"nvlink", facts.isNvlinkPresent},
            {"nvlinkTraffic", traffic},
            {"worldSize", facts.worldSize},
            {"kernelCount", facts.kernelCount},
            {"truncated", facts.isTruncated},
            {"healthWarnings", arrayOf(facts.healthWarnings, noteJson)},
            {"stepSource", identifier(run.source)},
            {"stepPattern", run.pattern},
            {"workers", arrayOf(run.workers, workerJson)}};
}

Json distributionJson(const StepDistribution& steps) {
    return {{"count", steps.count},
            {"meanNs", steps.meanNs},
            {"medianNs", steps.medianNs},
            {"p95Ns", steps.p95Ns},
            {"minimumNs", steps.minimumNs},
            {"maximumNs", steps.maximumNs},
            {"firstQuartileNs", steps.firstQuartileNs},
            {"thirdQuartileNs", steps.thirdQuartileNs}};
}

Json claimJson(const Claim& claim) {
    const bool isOfRuns = claim.unit == ClaimUnit::Runs;
    return {{"outcome", identifier(claim.outcome)},
            {"unit", identifier(claim.unit)},
            {"baselineRuns", claim.baselineRuns},
            {"candidateRuns", claim.candidateRuns},
            {"earlierRuns", claim.spreadRuns},
            {"confidenceIntervalPercent", orNull(Json({claim.lowPercent, claim.highPercent}), isOfRuns)},
            {"visiblePercent", orNull(claim.visiblePercent, isOfRuns)},
            {"apartPercent", orNull(orNull(claim.spreadPercent), isOfRuns)},
            {"byTurns", orNull(claim.areAlternating, isOfRuns)},
            {"adjustedPValue", orNull(claim.adjustedPValue, isOfRuns)},
            {"differenceNs", claim.differenceNs},
            {"percent", claim.percent},
            {"pValue", claim.pValue},
            {"confidenceIntervalNs", {claim.lowNs, claim.highNs}},
            {"noiseNs", claim.noiseNs}};
}

Json quantityJson(const QuantityClaim& claim) {
    const bool isPart = claim.kind == QuantityKind::Part;
    return {{"kind", identifier(claim.kind)},
            {"part", orNull(identifier(claim.part), isPart)},
            {"path", orNull(claim.path, !isPart)},
            {"certain", claim.isCertain},
            {"baselineNs", claim.baselineNs},
            {"differenceNs", claim.differenceNs},
            {"confidenceIntervalNs", {claim.lowNs, claim.highNs}},
            {"pValue", claim.pValue},
            {"adjustedPValue", claim.adjustedPValue}};
}

Json shareJson(const ContributorShare& share) {
    return {{"name", share.name.text()},
            {"exposedNs", share.exposedNs},
            {"totalNs", share.totalNs},
            {"count", share.count},
            {"bytes", share.bytes},
            {"gigabytesPerSecond", orNull(share.gigabytesPerSecond, share.gigabytesPerSecond > 0)}};
}

Json contributorJson(const ContributorDifference& one) {
    // A side without it is null, not zero.
    return {{"part", identifier(one.part)},
            {"kind", identifier(one.kind)},
            {"match", identifier(one.match)},
            {"path", one.path},
            {"lostNs", one.lostNs()},
            {"baseline", orNull(shareJson(one.baseline), one.match != MatchKind::OnlyCandidate)},
            {"candidate", orNull(shareJson(one.candidate), one.match != MatchKind::OnlyBaseline)}};
}

Json partJson(const PartDifference& part) {
    return {{"part", identifier(part.part)},
            {"baselineNs", part.baselineNs},
            {"candidateNs", part.candidateNs},
            {"lostNs", part.lostNs()}};
}

Json rangeJson(const RangeDifference& range) {
    return {{"path", range.path},
            {"part", identifier(range.part)},
            {"baselineNs", range.baselineNs},
            {"candidateNs", range.candidateNs},
            {"lostNs", range.lostNs()}};
}

Json pathJson(const PathDifference& each) {
    return {{"part", identifier(each.part.part)},
            {"name", each.part.name},
            {"line", each.part.line},
            {"rank", orNull(each.part.rank)},
            {"baselineNs", orNull(each.baselineNs)},
            {"candidateNs", orNull(each.candidateNs)}};
}

Json pairJson(const WorkerComparison& pair) {
    return {{"baselineWorker", pair.baselineLabel},
            {"candidateWorker", pair.candidateLabel},
            {"baselineSteps", distributionJson(pair.baseline)},
            {"candidateSteps", distributionJson(pair.candidate)},
            {"baselineMfu", orNull(pair.baselineMfu)},
            {"candidateMfu", orNull(pair.candidateMfu)},
            {"claim", claimJson(pair.claim)},
            {"judged", arrayOf(pair.quantities, quantityJson)},
            {"lostNs", pair.lostNs()},
            {"parts", arrayOf(pair.parts, partJson)},
            {"contributors", arrayOf(pair.contributors, contributorJson)},
            {"ranges", arrayOf(pair.ranges, rangeJson)},
            {"path", arrayOf(pair.path, pathJson)}};
}

Json causeJson(const Cause& cause) {
    return {{"part", identifier(cause.part)},
            {"lostNs", cause.lostNs},
            {"contributor", cause.main ? cause.main->name().text() : ""},
            {"path", cause.main ? cause.main->path : ""},
            {"changeOfKind", cause.isChangeOfKind},
            {"certain", cause.judged ? Json(cause.isCertain()) : Json(nullptr)},
            {"text", cause.text}};
}

Json clauseJson(const Clause& clause) {
    const InstanceQuery query = clause.query.value_or(InstanceQuery{});
    const bool isCause = clause.query.has_value();
    const bool isSingle = clause.kind == ClauseKind::Single;
    return {{"text", clause.text},
            {"evidence", orNull(identifier(clause.kind), clause.hasEvidence())},
            {"part", orNull(identifier(query.part), isCause)},
            {"baseline", orNull(query.baselineName.text(), isCause)},
            {"candidate", orNull(query.candidateName.text(), isCause)},
            {"run", orNull(clause.isCandidate ? "candidate" : "baseline", isSingle)},
            {"step", orNull(clause.number, isSingle)}};
}

Json answerJson(const Answer& answer) {
    return {{"outcome", identifier(answer.outcome)},
            {"sentence", answer.sentence},
            {"clauses", arrayOf(answer.clauses, clauseJson)},
            {"causes", arrayOf(answer.causes, causeJson)},
            {"details", answer.details},
            {"cautions", answer.cautions}};
}

Json outlierJson(const RunOutlier& outlier) {
    const OutlierStep& step = outlier.step;
    return {{"run", outlier.isCandidate ? "candidate" : "baseline"},
            {"worker", outlier.worker},
            {"step", step.number},
            {"name", step.name},
            {"startNs", step.startNs},
            {"wallNs", step.wallNs},
            {"excessNs", step.excessNs},
            {"part", identifier(step.part)},
            {"partExcessNs", step.partExcessNs},
            {"contributor", step.contributor.text()},
            {"path", step.path}};
}

Json patternJson(const PatternDifference& one) {
    const StepPattern& pattern = one.pattern;
    return {{"run", one.isCandidate ? "candidate" : "baseline"},
            {"worker", one.worker},
            {"kind", identifier(pattern.kind)},
            {"period", orNull(pattern.period, pattern.period > 0)},
            {"firstStep", pattern.firstNumber},
            {"share", pattern.share},
            {"excessNs", pattern.excessNs},
            {"otherExcessNs", one.otherExcessNs},
            {"costNs", pattern.costNs},
            {"part", identifier(pattern.part)},
            {"partExcessNs", pattern.partExcessNs},
            {"contributor", one.contributor.text()},
            {"path", one.path},
            {"text", one.text}};
}

Json testJson(const TestOutcome& test) {
    return {{"state", identifier(test.state)},
            {"baseline", orNull(test.baseline)},
            {"candidate", orNull(test.candidate)},
            {"finding", test.finding}};
}

Json conditionJson(const ConditionOutcome& condition) {
    return {{"text", condition.text},
            {"state", identifier(condition.state)},
            {"sentence", condition.sentence},
            {"tests", arrayOf(condition.tests, testJson)}};
}

Json candidateJson(const ComparedCandidate& candidate) {
    const RunComparison& comparison = candidate.comparison;
    return {{"run", runJson(candidate.summary)},
            {"answer", answerJson(comparison.answer)},
            {"critical", orNull(comparison.critical, comparison.criticalPair() != nullptr)},
            {"workers", arrayOf(comparison.workers, pairJson)},
            {"outliers", arrayOf(comparison.outliers, outlierJson)},
            {"patterns", arrayOf(comparison.patterns, patternJson)},
            {"conditions", arrayOf(candidate.conditions, conditionJson)}};
}

Json historicRunJson(const HistoricRun& run) {
    return {{"title", run.title}, {"startUtcNs", run.startUtcNs}, {"medianNs", run.medianNs}};
}

Json historyJson(const RunHistory& history) {
    Json change = nullptr;
    if (history.change)
        change = {
            {"first", history.change->first}, {"percent", history.change->percent}, {"pValue", history.change->pValue}};
    return {{"folder", history.folder},
            {"runs", arrayOf(history.runs, historicRunJson)},
            {"otherTraces", history.others},
            {"comparedRuns", history.compared},
            {"change", std::move(change)}};
}

/// Returns the coverage of the worker of the findings.
Json coverageOf(const ExplanationReport& report) {
    const uint32_t critical = report.run.criticalWorker();
    return critical == noIndex ? Json(nullptr) : orNull(report.run.workers[critical].coverage());
}

/// Returns null if there are none, or if states were not recorded.
Json loadersJson(const LoaderTimes& loaders) {
    if (loaders.threads == 0) return nullptr;
    return {{"threads", loaders.threads},
            {"knownNs", loaders.knownNs},
            {"ranNs", loaders.ranNs},
            {"noCoreNs", loaders.noCoreNs},
            {"inputNs", loaders.inputNs}};
}

/// Returns null if unknown.
Json coreWaitsJson(const std::optional<CoreWaits>& waits) {
    if (!waits) return nullptr;
    return {{"threads", waits->threads}, {"ns", waits->ns}};
}

/// Returns null if nothing is known.
Json useJson(const ComputeUse& use) {
    if (use.source() == MfuSource::None) return nullptr;
    const auto ofSheet = [&use](double rate) {
        return rate > 0 && use.sheetPerSecond > 0 ? Json(rate / static_cast<double>(use.sheetPerSecond))
                                                  : Json(nullptr);
    };
    return {{"mfu", orNull(use.mfu())},
            {"hfu", orNull(use.hfu())},
            {"source", identifier(use.source())},
            {"steps", use.steps()},
            {"precision", use.precision},
            {"peak", use.measuredPerSecond > 0 ? "measured" : "data_sheet"},
            {"measuredFlopsPerSecond", use.measuredPerSecond},
            {"sheetFlopsPerSecond", use.sheetPerSecond},
            {"byCounters", orNull(use.byCounters())},
            {"ofSheet", ofSheet(use.readings > 0 ? static_cast<double>(use.activePerSecond) : 0)},
            {"sampler", use.sampler},
            {"readings", use.readings},
            {"readingNs", use.readingNs},
            {"knownNs", use.knownNs},
            {"isShared", use.isShared},
            {"countedOfSheet", ofSheet(use.countedPerSecond(false))},
            {"countedSteps", use.countedSteps},
            {"modelFlopsPerStep", use.modelPerStep},
            {"repeatedFlopsPerStep", use.repeatedPerStep},
            {"kernelNs", use.kernelNs},
            {"knownKernelNs", use.knownKernelNs}};
}

Json shapeJson(const ShapedWork& each) {
    return {{"operation", each.operation},
            {"shape", each.shape},
            {"precision", each.precision},
            {"place", each.place},
            {"kernel", each.kernel},
            {"isRecomputed", each.isRecomputed},
            {"count", each.count},
            {"kernelNs", each.kernelNs},
            {"flops", each.flops},
            {"bytes", each.bytes},
            {"ofRoof", orNull(each.ofRoof())},
            {"isMeasured", each.isMeasured},
            {"isMemoryBound", each.isMemoryBound}};
}

Json familyJson(const FamilySum& each) {
    return {{"family", identifier(each.family)},
            {"precision", identifier(each.precision)},
            {"count", each.count},
            {"exposedNs", each.exposedNs},
            {"kernel", each.name},
            {"launched", each.launched}};
}

Json unitJson(const StepUnit& unit) {
    return {{"source", identifier(unit.source)}, {"pattern", unit.pattern}, {"count", unit.count}};
}

Json explainedWorkerJson(const WorkerSummary& worker, const explain::WorkerParts& parts) {
    return {{"label", worker.label()},
            {"pid", worker.pid},
            {"rank", orNull(worker.rank)},
            {"gpu", worker.gpuId},
            {"steps", worker.steps.size()},
            {"coverage", orNull(worker.coverage())},
            {"meanStepNs", parts.meanNs},
            {"partsNs", partsJson(parts.parts)},
            {"loaders", loadersJson(worker.loaders)},
            {"coreWaits", coreWaitsJson(worker.coreWaits)},
            {"mfu", useJson(worker.use)},
            {"shapes", arrayOf(worker.shaped, shapeJson)},
            {"launches",
             {{"count", worker.launches.count},
              {"medianNs", worker.launches.medianNs},
              {"place", worker.launches.place.text},
              {"placeCount", worker.launches.placeCount}}}};
}

Json mergedJson(const explain::Finding& finding) {
    return {{"rule", finding.rule->id}, {"mostGainNs", finding.maxGainNs}, {"share", finding.share}};
}

Json findingJson(const ExplanationReport& report, const explain::Finding& finding) {
    return {{"rule", finding.rule->id},
            {"worker", report.run.workers[finding.worker].label()},
            {"mostGainNs", finding.maxGainNs},
            {"share", finding.share},
            {"forecastNs", finding.forecastNs},
            {"savedNs", finding.saving ? Json(finding.saving->ns) : Json()},
            {"savedMarginNs", finding.saving ? Json(finding.saving->marginNs) : Json()},
            {"recorderNs", finding.overheadNs},
            {"contributor", finding.contributor.text()},
            {"path", finding.path},
            {"launched", finding.launched.text},
            {"countPerStep", finding.countPerStep},
            {"atNs", orNull(finding.atNs)},
            {"sentence", finding.sentence},
            {"code", finding.code},
            {"advice", finding.advice},
            {"sql", finding.sql},
            {"evidenceNs", finding.evidenceNs},
            {"merged", arrayOf(finding.merged, mergedJson)}};
}

}  // namespace

std::string comparisonAsJson(const ComparisonReport& report) {
    const Json document{{"schema", "lanescope-comparison"},
                        {"version", comparisonSchemaVersion},
                        {"selection", report.selection},
                        {"history", report.history ? historyJson(*report.history) : Json(nullptr)},
                        {"baseline", runJson(report.baseline)},
                        {"candidates", arrayOf(report.candidates, candidateJson)}};
    // Names in a trace may be any bytes; without this, dump() would throw on them.
    return withoutControls(document.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string explanationAsJson(const ExplanationReport& report) {
    const Json json{
        {"schema", "lanescope.explanation"},
        {"version", explanationSchemaVersion},
        {"trace", report.run.facts.title},
        {"isStillRecorded", report.run.facts.isStillRecorded},
        {"doubts", report.explanation.caveats},
        {"sentence", report.explanation.sentence},
        {"compute",
         {{"sentence", report.explanation.compute}, {"families", arrayOf(report.explanation.families, familyJson)}}},
        {"steps",
         {{"source", identifier(report.run.source)},
          {"kind", identifier(report.run.kind)},
          {"rangesPerStep", report.run.rangesPerStep},
          {"pattern", report.run.pattern},
          {"units", arrayOf(report.run.units, unitJson)},
          {"onlyCall", report.run.onlyCall},
          {"deferred", report.run.deferred},
          {"coverage", coverageOf(report)},
          {"sentence", report.explanation.steps}}},
        {"workers", arrayOf(report.explanation.workers,
                            [&](const explain::WorkerParts& each) {
                                return explainedWorkerJson(report.run.workers[each.worker], each);
                            })},
        {"findings", arrayOf(report.explanation.findings,
                             [&](const explain::Finding& each) { return findingJson(report, each); })}};
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::report
