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

/// Returns nanoseconds by the identifiers of the parts.
inline Json partsJson(const analysis::StepParts& parts) {
    Json json = Json::object();
    for (const analysis::StepPart part : analysis::allStepParts) json[std::string(identifier(part))] = parts[part];
    return json;
}

using namespace analysis;
using namespace compare;

namespace {

constexpr int comparisonSchemaVersion = 4;

Json optionalNumber(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json workerJson(const WorkerSummary& worker) {
    Json steps = Json::array();
    for (const StepSummary& step : worker.steps)
        steps.push_back({{"number", step.number},
                         {"name", step.name},
                         {"startNs", step.startNs},
                         {"wallNs", step.wallNs},
                         {"onCpuNs", step.onCpuNs ? Json(*step.onCpuNs) : Json(nullptr)},
                         {"partsNs", partsJson(step.parts)}});
    return {{"label", worker.label()},
            {"pid", worker.pid},
            {"rank", worker.rank ? Json(*worker.rank) : Json(nullptr)},
            {"processName", worker.processName},
            {"gpu", worker.gpuId},
            {"gpuName", worker.gpuName},
            {"endedAbnormally", worker.endedAbnormally},
            {"foundSteps", worker.foundSteps},
            {"warmUpSteps", worker.warmUpSteps},
            {"steps", std::move(steps)}};
}

Json noteJson(const HealthNote& note) {
    return {{"severity", identifier(note.severity)},
            {"code", codeOf(note)},
            {"pid", note.globalPid ? Json(processIdOf(*note.globalPid)) : Json()},
            {"count", note.count ? Json(*note.count) : Json()},
            {"sentence", note.sentence}};
}

Json runJson(const RunSummary& run) {
    const SummaryFacts& facts = run.facts;
    Json warnings = Json::array();
    for (const HealthNote& note : facts.healthWarnings) warnings.push_back(noteJson(note));
    Json workers = Json::array();
    for (const WorkerSummary& worker : run.workers) workers.push_back(workerJson(worker));
    const NvlinkTraffic& nvlink = run.nvlink;
    const Json traffic{
        {"use", identifier(nvlink.use)},
        {"evidence", identifier(nvlink.evidence)},
        {"bytesPerStep", nvlink.bytesPerStep ? Json(*nvlink.bytesPerStep) : Json()},
        {"stepEvidence", identifier(nvlink.stepEvidence)},
        {"bestBytesPerSecond", nvlink.bestBytesPerSecond > 0 ? Json(nvlink.bestBytesPerSecond) : Json()}};
    return {{"title", facts.title},
            {"producer", facts.producer},
            {"commandLine", facts.commandLine},
            {"driver", facts.driver},
            {"cuda", facts.cuda},
            {"gpuNames", facts.gpuNames},
            {"host", facts.host},
            {"startUtcNs", facts.startUtcNs > 0 ? Json(facts.startUtcNs) : Json(nullptr)},
            {"smClockHz", facts.smClockHz > 0 ? Json(facts.smClockHz) : Json(nullptr)},
            {"otherGpuProcesses", facts.otherGpuProcesses},
            {"nvlink", facts.isNvlinkPresent},
            {"nvlinkTraffic", traffic},
            {"worldSize", facts.worldSize},
            {"kernelCount", facts.kernelCount},
            {"truncated", facts.isTruncated},
            {"healthWarnings", std::move(warnings)},
            {"stepSource", identifier(run.source)},
            {"stepPattern", run.pattern},
            {"workers", std::move(workers)}};
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
            {"confidenceIntervalPercent", isOfRuns ? Json({claim.lowPercent, claim.highPercent}) : Json(nullptr)},
            {"visiblePercent", isOfRuns ? Json(claim.visiblePercent) : Json(nullptr)},
            {"apartPercent", isOfRuns ? optionalNumber(claim.spreadPercent) : Json(nullptr)},
            {"byTurns", isOfRuns ? Json(claim.areAlternating) : Json(nullptr)},
            {"adjustedPValue", isOfRuns ? Json(claim.adjustedPValue) : Json(nullptr)},
            {"differenceNs", claim.differenceNs},
            {"percent", claim.percent},
            {"pValue", claim.pValue},
            {"confidenceIntervalNs", {claim.lowNs, claim.highNs}},
            {"noiseNs", claim.noiseNs}};
}

Json quantityJson(const QuantityClaim& claim) {
    const bool isPart = claim.kind == QuantityKind::Part;
    return {{"kind", identifier(claim.kind)},
            {"part", isPart ? Json(identifier(claim.part)) : Json(nullptr)},
            {"path", isPart ? Json(nullptr) : Json(claim.path)},
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
            {"gigabytesPerSecond", share.gigabytesPerSecond > 0 ? Json(share.gigabytesPerSecond) : Json(nullptr)}};
}

Json contributorJson(const ContributorDifference& one) {
    // A side without it is null, not zero.
    const bool hasBaseline = one.match != MatchKind::OnlyCandidate;
    const bool hasCandidate = one.match != MatchKind::OnlyBaseline;
    return {{"part", identifier(one.part)},
            {"kind", identifier(one.kind)},
            {"match", identifier(one.match)},
            {"path", one.path},
            {"lostNs", one.lostNs()},
            {"baseline", hasBaseline ? shareJson(one.baseline) : Json(nullptr)},
            {"candidate", hasCandidate ? shareJson(one.candidate) : Json(nullptr)}};
}

Json pairJson(const WorkerComparison& pair) {
    Json parts = Json::array(), contributors = Json::array(), ranges = Json::array(), quantities = Json::array();
    for (const QuantityClaim& claim : pair.quantities) quantities.push_back(quantityJson(claim));
    for (const PartDifference& part : pair.parts)
        parts.push_back({{"part", identifier(part.part)},
                         {"baselineNs", part.baselineNs},
                         {"candidateNs", part.candidateNs},
                         {"lostNs", part.lostNs()}});
    for (const ContributorDifference& one : pair.contributors) contributors.push_back(contributorJson(one));
    for (const RangeDifference& range : pair.ranges)
        ranges.push_back({{"path", range.path},
                          {"part", identifier(range.part)},
                          {"baselineNs", range.baselineNs},
                          {"candidateNs", range.candidateNs},
                          {"lostNs", range.lostNs()}});
    return {{"baselineWorker", pair.baselineLabel},
            {"candidateWorker", pair.candidateLabel},
            {"baselineSteps", distributionJson(pair.baseline)},
            {"candidateSteps", distributionJson(pair.candidate)},
            {"baselineMfu", optionalNumber(pair.baselineMfu)},
            {"candidateMfu", optionalNumber(pair.candidateMfu)},
            {"claim", claimJson(pair.claim)},
            {"judged", std::move(quantities)},
            {"lostNs", pair.lostNs()},
            {"parts", std::move(parts)},
            {"contributors", std::move(contributors)},
            {"ranges", std::move(ranges)}};
}

Json answerJson(const Answer& answer) {
    Json causes = Json::array();
    for (const Cause& cause : answer.causes)
        causes.push_back({{"part", identifier(cause.part)},
                          {"lostNs", cause.lostNs},
                          {"contributor", cause.main ? cause.main->name().text() : ""},
                          {"path", cause.main ? cause.main->path : ""},
                          {"changeOfKind", cause.isChangeOfKind},
                          {"certain", cause.judged ? Json(cause.isCertain()) : Json(nullptr)},
                          {"text", cause.text}});
    Json clauses = Json::array();
    for (const Clause& clause : answer.clauses) {
        const InstanceQuery query = clause.query.value_or(InstanceQuery{});
        const bool isCause = clause.query.has_value();
        const bool isSingle = clause.kind == ClauseKind::Single;
        clauses.push_back({{"text", clause.text},
                           {"evidence", clause.hasEvidence() ? Json(identifier(clause.kind)) : Json(nullptr)},
                           {"part", isCause ? Json(identifier(query.part)) : Json(nullptr)},
                           {"baseline", isCause ? Json(query.baselineName.text()) : Json(nullptr)},
                           {"candidate", isCause ? Json(query.candidateName.text()) : Json(nullptr)},
                           {"run", isSingle ? Json(clause.isCandidate ? "candidate" : "baseline") : Json()},
                           {"step", isSingle ? Json(clause.number) : Json(nullptr)}});
    }
    return {{"outcome", identifier(answer.outcome)}, {"sentence", answer.sentence}, {"clauses", std::move(clauses)},
            {"causes", std::move(causes)},           {"details", answer.details},   {"cautions", answer.cautions}};
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
            {"period", pattern.period > 0 ? Json(pattern.period) : Json(nullptr)},
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

Json conditionJson(const compare::ConditionOutcome& condition) {
    Json tests = Json::array();
    for (const compare::TestOutcome& test : condition.tests)
        tests.push_back({{"state", identifier(test.state)},
                         {"baseline", optionalNumber(test.baseline)},
                         {"candidate", optionalNumber(test.candidate)},
                         {"finding", test.finding}});
    return {{"text", condition.text},
            {"state", identifier(condition.state)},
            {"sentence", condition.sentence},
            {"tests", std::move(tests)}};
}

Json candidateJson(const ComparedCandidate& candidate) {
    const RunComparison& comparison = candidate.comparison;
    Json workers = Json::array(), outliers = Json::array(), patterns = Json::array(), conditions = Json::array();
    for (const PatternDifference& one : comparison.patterns) patterns.push_back(patternJson(one));
    for (const WorkerComparison& pair : comparison.workers) workers.push_back(pairJson(pair));
    for (const RunOutlier& outlier : comparison.outliers) outliers.push_back(outlierJson(outlier));
    for (const compare::ConditionOutcome& condition : candidate.conditions)
        conditions.push_back(conditionJson(condition));
    const bool hasCritical = comparison.criticalPair() != nullptr;
    return {{"run", runJson(candidate.summary)},
            {"answer", answerJson(comparison.answer)},
            {"critical", hasCritical ? Json(comparison.critical) : Json(nullptr)},
            {"workers", std::move(workers)},
            {"outliers", std::move(outliers)},
            {"patterns", std::move(patterns)},
            {"conditions", std::move(conditions)}};
}

Json historyJson(const RunHistory& history) {
    Json runs = Json::array();
    for (const HistoricRun& run : history.runs)
        runs.push_back({{"title", run.title}, {"startUtcNs", run.startUtcNs}, {"medianNs", run.medianNs}});
    Json change = nullptr;
    if (history.change)
        change = {
            {"first", history.change->first}, {"percent", history.change->percent}, {"pValue", history.change->pValue}};
    return {{"folder", history.folder},
            {"runs", std::move(runs)},
            {"otherTraces", history.others},
            {"comparedRuns", history.compared},
            {"change", std::move(change)}};
}

constexpr int explanationSchemaVersion = 1;

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// Returns the coverage of the worker of the findings.
Json coverageOf(const ExplanationReport& report) {
    const uint32_t critical = report.run.criticalWorker();
    return critical == noIndex ? Json(nullptr) : orNull(report.run.workers[critical].coverage());
}

/// Returns null if there are none, or if states were not recorded.
Json loadersJson(const analysis::LoaderTimes& loaders) {
    if (loaders.threads == 0) return nullptr;
    return {{"threads", loaders.threads},
            {"knownNs", loaders.knownNs},
            {"ranNs", loaders.ranNs},
            {"noCoreNs", loaders.noCoreNs},
            {"inputNs", loaders.inputNs}};
}

/// Returns null if unknown.
Json coreWaitsJson(const std::optional<analysis::CoreWaits>& waits) {
    if (!waits) return nullptr;
    return {{"threads", waits->threads}, {"ns", waits->ns}};
}

/// Returns null if nothing is known.
Json useJson(const analysis::ComputeUse& use) {
    if (use.source() == analysis::MfuSource::None) return nullptr;
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

Json shapesJson(const std::vector<analysis::ShapedWork>& shapes) {
    Json all = Json::array();
    for (const analysis::ShapedWork& each : shapes)
        all.push_back({{"operation", each.operation},
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
                       {"isMemoryBound", each.isMemoryBound}});
    return all;
}

Json familiesJson(const explain::Explanation& explanation) {
    Json families = Json::array();
    for (const FamilySum& each : explanation.families)
        families.push_back({{"family", identifier(each.family)},
                            {"precision", identifier(each.precision)},
                            {"count", each.count},
                            {"exposedNs", each.exposedNs},
                            {"kernel", each.name},
                            {"launched", each.launched}});
    return families;
}

Json unitsJson(const RunSummary& run) {
    Json units = Json::array();
    for (const StepUnit& unit : run.units)
        units.push_back({{"source", identifier(unit.source)}, {"pattern", unit.pattern}, {"count", unit.count}});
    return units;
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
            {"launched", finding.launched},
            {"countPerStep", finding.countPerStep},
            {"atNs", orNull(finding.atNs)},
            {"sentence", finding.sentence},
            {"advice", finding.advice},
            {"sql", finding.sql},
            {"evidenceNs", finding.evidenceNs}};
}

}  // namespace

std::string comparisonAsJson(const ComparisonReport& report) {
    Json candidates = Json::array();
    for (const ComparedCandidate& candidate : report.candidates) candidates.push_back(candidateJson(candidate));
    const Json document{{"schema", "lanescope-comparison"},
                        {"version", comparisonSchemaVersion},
                        {"selection", report.selection},
                        {"history", report.history ? historyJson(*report.history) : Json(nullptr)},
                        {"baseline", runJson(report.baseline)},
                        {"candidates", std::move(candidates)}};
    // Names in a trace may be any bytes; without this, dump() would throw on them.
    return withoutControls(document.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string explanationAsJson(const ExplanationReport& report) {
    Json workers = Json::array();
    for (const explain::WorkerParts& each : report.explanation.workers) {
        const analysis::WorkerSummary& worker = report.run.workers[each.worker];
        workers.push_back({{"label", worker.label()},
                           {"pid", worker.pid},
                           {"rank", orNull(worker.rank)},
                           {"gpu", worker.gpuId},
                           {"steps", worker.steps.size()},
                           {"coverage", orNull(worker.coverage())},
                           {"meanStepNs", each.meanNs},
                           {"partsNs", partsJson(each.parts)},
                           {"loaders", loadersJson(worker.loaders)},
                           {"coreWaits", coreWaitsJson(worker.coreWaits)},
                           {"mfu", useJson(worker.use)},
                           {"shapes", shapesJson(worker.shaped)},
                           {"launches",
                            {{"count", worker.launches.count},
                             {"medianNs", worker.launches.medianNs},
                             {"place", worker.launches.place},
                             {"placeCount", worker.launches.placeCount}}}});
    }
    Json findings = Json::array();
    for (const explain::Finding& finding : report.explanation.findings)
        findings.push_back(findingJson(report, finding));
    const Json json{
        {"schema", "lanescope.explanation"},
        {"version", explanationSchemaVersion},
        {"trace", report.run.facts.title},
        {"isStillRecorded", report.run.facts.isStillRecorded},
        {"doubts", report.explanation.caveats},
        {"sentence", report.explanation.sentence},
        {"compute", {{"sentence", report.explanation.compute}, {"families", familiesJson(report.explanation)}}},
        {"steps",
         {{"source", identifier(report.run.source)},
          {"kind", identifier(report.run.kind)},
          {"rangesPerStep", report.run.rangesPerStep},
          {"pattern", report.run.pattern},
          {"units", unitsJson(report.run)},
          {"onlyCall", report.run.onlyCall},
          {"deferred", report.run.deferred},
          {"coverage", coverageOf(report)},
          {"sentence", report.explanation.steps}}},
        {"workers", std::move(workers)},
        {"findings", std::move(findings)}};
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::report
