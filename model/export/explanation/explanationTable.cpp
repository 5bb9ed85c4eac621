// SPDX-License-Identifier: Apache-2.0
#include "model/export/explanation/explanationTable.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::report {

using namespace compare;

std::vector<const explain::WorkerParts*> workersShown(const ExplanationReport& report,
                                                      size_t most) {
    const auto& all = report.explanation.workers;
    std::vector<const explain::WorkerParts*> shown;
    for (const explain::WorkerParts& each : all)
        if (shown.size() < most) shown.push_back(&each);
    const uint32_t critical = report.run.criticalWorker();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& each) { return each.worker == critical; });
    if (found != all.end() && std::find(shown.begin(), shown.end(), &*found) == shown.end())
        shown.back() = &*found;
    return shown;
}

std::vector<StepPart> partsShown(const std::vector<const explain::WorkerParts*>& workers) {
    std::vector<StepPart> parts;
    for (size_t index = 0; index < stepPartCount; ++index) {
        const auto part = static_cast<StepPart>(index);
        if (std::any_of(workers.begin(), workers.end(),
                        [part](const auto* each) { return each->parts[part] != 0; }))
            parts.push_back(part);
    }
    return parts;
}

DurationScale scaleOf(const ExplanationReport& report) {
    int64_t longestNs = 0;
    for (const explain::WorkerParts& each : report.explanation.workers)
        longestNs = std::max(longestNs, each.meanNs);
    return DurationScale::ofStep(longestNs);
}

std::string_view partsTitleOf(const ExplanationReport& report) {
    if (report.run.source == StepSource::WholeRun) return "Run";
    return report.run.kind == StepKind::Request ? "Mean request" : "Mean step";
}

std::string headingOf(const ExplanationReport& report, const explain::Finding& finding) {
    return fmt::format("{}, up to {} {} {}", factsOf(finding.rule).identifier,
                       scaleOf(report).text(finding.mostGainNs),
                       report.run.source == StepSource::WholeRun ? "of the" : "a",
                       report.explanation.what);
}

}  // namespace lanescope::report
