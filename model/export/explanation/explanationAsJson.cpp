// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/partsJson.h"
#include "model/export/explanation/ExplanationReport.h"
#include "model/values/formatValue.h"

namespace lanescope::report {

namespace {

constexpr int schemaVersion = 1;

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// That of the worker that the findings are about.
Json coverageOf(const ExplanationReport& report) {
    const uint32_t critical = report.run.criticalWorker();
    return critical == noIndex ? Json(nullptr) : orNull(report.run.workers[critical].coverage());
}

/// Null where there are none, or nobody looked.
Json loadersJson(const compare::LoaderTimes& loaders) {
    if (loaders.threads == 0) return nullptr;
    return {{"threads", loaders.threads},
            {"knownNs", loaders.knownNs},
            {"ranNs", loaders.ranNs},
            {"noCoreNs", loaders.noCoreNs},
            {"inputNs", loaders.inputNs}};
}

/// Null where that is not known.
Json coreWaitsJson(const std::optional<compare::CoreWaits>& waits) {
    if (!waits) return nullptr;
    return {{"threads", waits->threads}, {"ns", waits->ns}};
}

Json findingJson(const ExplanationReport& report, const explain::Finding& finding) {
    return {{"rule", factsOf(finding.rule).identifier},
            {"worker", report.run.workers[finding.worker].label()},
            {"mostGainNs", finding.mostGainNs},
            {"share", finding.share},
            {"recorderNs", finding.recorderNs},
            {"contributor", finding.contributor},
            {"path", finding.path},
            {"launched", finding.launched},
            {"countPerStep", finding.countPerStep},
            {"atNs", orNull(finding.atNs)},
            {"sentence", finding.sentence},
            {"advice", factsOf(finding.rule).advice},
            {"sql", finding.sql}};
}

}  // namespace

std::string explanationAsJson(const ExplanationReport& report) {
    Json workers = Json::array();
    for (const explain::WorkerParts& each : report.explanation.workers) {
        const compare::WorkerSummary& worker = report.run.workers[each.worker];
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
                           {"launches",
                            {{"count", worker.launches.count},
                             {"medianNs", worker.launches.medianNs},
                             {"place", worker.launches.place},
                             {"placeCount", worker.launches.placeCount}}}});
    }
    Json findings = Json::array();
    for (const explain::Finding& finding : report.explanation.findings)
        findings.push_back(findingJson(report, finding));
    const Json json{{"schema", "lanescope.explanation"},
                    {"version", schemaVersion},
                    {"trace", report.run.facts.title},
                    {"isStillRecorded", report.run.facts.isStillRecorded},
                    {"doubts", report.explanation.doubts},
                    {"sentence", report.explanation.sentence},
                    {"steps",
                     {{"source", identifier(report.run.source)},
                      {"kind", identifier(report.run.kind)},
                      {"rangesPerStep", report.run.rangesPerStep},
                      {"pattern", report.run.pattern},
                      {"coverage", coverageOf(report)},
                      {"sentence", report.explanation.steps}}},
                    {"workers", std::move(workers)},
                    {"findings", std::move(findings)}};
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::report
