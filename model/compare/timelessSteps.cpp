// SPDX-License-Identifier: Apache-2.0
#include "model/compare/timelessSteps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/values/formatValue.h"

namespace lanescope::compare {

std::string timelessSentence(const RunSummary& run) {
    for (const WorkerSummary& worker : run.workers) {
        const auto timeless = std::ranges::count(worker.steps, 0, &StepSummary::wallNs);
        if (2 * static_cast<size_t>(timeless) > worker.steps.size())
            return fmt::format(
                "{} of {} steps of {} take no time: work seems to last beyond those behind it.",
                timeless, worker.steps.size(), worker.label());
    }
    return {};
}

std::string incomparableSentence(const RunSummary& baseline, const RunSummary& candidate) {
    for (const auto& [side, run] : {std::pair("baseline", &baseline), {"candidate", &candidate}})
        if (const std::string timeless = timelessSentence(*run); !timeless.empty())
            return fmt::format("The {} {} cannot be compared: {}", side,
                               printable(run->facts.title), timeless);
    if (baseline.isEmpty() && candidate.isEmpty())
        return "Neither run has GPU work, so there is nothing to compare.";
    const bool isBaseline = baseline.isEmpty();
    return fmt::format("The {} {} has no GPU work, so there is nothing to compare.",
                       isBaseline ? "baseline" : "candidate",
                       printable((isBaseline ? baseline : candidate).facts.title));
}

}  // namespace lanescope::compare
