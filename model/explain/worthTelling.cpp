// SPDX-License-Identifier: Apache-2.0
#include "model/explain/worthTelling.h"

#include <algorithm>
#include <vector>

namespace lanescope::explain {

using namespace compare;

int64_t ofTypicalStepNs(const WorkerSummary& worker, StepPart part) {
    std::vector<int64_t> times;
    for (const StepSummary& step : worker.steps) times.push_back(step.parts[part]);
    if (times.empty()) return 0;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

bool isFill(const Contributor& each) {
    return each.part == StepPart::Compute && each.kind == ContributorKind::Kernel &&
           each.name.find("FillFunctor") != std::string::npos;
}

bool isOfBatchSize(const StepPattern& pattern, const WorkerSummary& worker) {
    if (pattern.part != StepPart::Compute) return false;
    if (pattern.kind != PatternKind::Period && pattern.kind != PatternKind::TwoModes) return false;
    return std::ranges::none_of(pattern.affected, [&](uint32_t place) {
        return std::ranges::any_of(worker.outliers, [&](const OutlierStep& odd) {
            return odd.number == worker.steps[place].number;
        });
    });
}

}  // namespace lanescope::explain
