// SPDX-License-Identifier: Apache-2.0
#include "model/compare/timelessSteps.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace lanescope::compare
