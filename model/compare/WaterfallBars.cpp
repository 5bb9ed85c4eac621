// SPDX-License-Identifier: Apache-2.0
#include "model/compare/WaterfallBars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace lanescope::compare {

namespace {

constexpr int64_t smallestShare = 100;  ///< One part in so many of all changes.

}  // namespace

int64_t WaterfallBars::lowestNs() const {
    int64_t lowest = std::min(baselineNs, candidateNs);
    for (const Bar& bar : bars) lowest = std::min(lowest, bar.toNs);
    return lowest;
}

int64_t WaterfallBars::highestNs() const {
    int64_t highest = std::max(baselineNs, candidateNs);
    for (const Bar& bar : bars) highest = std::max(highest, bar.toNs);
    return highest;
}

WaterfallBars waterfallBars(const WorkerComparison& pair, size_t mostBars) {
    std::vector<PartDifference> changed;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0) continue;
        changed.push_back(part);
        allNs += std::abs(part.lostNs());
    }
    std::stable_sort(changed.begin(), changed.end(), [](const auto& a, const auto& b) {
        return std::abs(a.lostNs()) > std::abs(b.lostNs());
    });
    size_t shown = 0;
    while (shown < std::min(changed.size(), mostBars) &&
           std::abs(changed[shown].lostNs()) * smallestShare >= allNs)
        ++shown;
    if (shown + 1 == changed.size()) ++shown;  // one part is not put together with itself

    WaterfallBars waterfall{pair.baseline.meanNs, pair.candidate.meanNs, {}, pair.scale};
    int64_t levelNs = pair.baseline.meanNs;
    for (size_t index = 0; index < shown; ++index) {
        const int64_t toNs = levelNs + changed[index].lostNs();
        waterfall.bars.push_back(
            {std::string(name(changed[index].part)), changed[index].part, levelNs, toNs});
        levelNs = toNs;
    }
    if (levelNs != pair.candidate.meanNs)
        waterfall.bars.push_back({fmt::format("{} other parts", changed.size() - shown),
                                  std::nullopt, levelNs, pair.candidate.meanNs});
    return waterfall;
}

}  // namespace lanescope::compare
