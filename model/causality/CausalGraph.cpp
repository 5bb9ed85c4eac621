// SPDX-License-Identifier: Apache-2.0
#include "model/causality/CausalGraph.h"

#include <algorithm>
#include <cmath>

namespace lanescope::causality {

namespace {

/// Sums of times of a corrupt trace may overflow. Differences of two differences of such sums do not.
int64_t boundedSum(int64_t a, int64_t b) {
    constexpr int64_t maxNs = int64_t{1} << 60;
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) sum = b > 0 ? maxNs : -maxNs;
    return std::clamp(sum, -maxNs, maxNs);
}

int64_t scaled(int64_t ns, double factor) {
    constexpr double most = 4e18;
    return std::llround(std::clamp(static_cast<double>(ns) * factor, -most, most));
}

}  // namespace

int64_t CausalGraph::startIn(Node node, std::span<const int64_t> ends, const Scale& scale, size_t* binding) const {
    int64_t start = std::numeric_limits<int64_t>::min();
    for (size_t edge = edgesBefore(node); edge < edgeEnd[node]; ++edge) {
        const int64_t readyNs = boundedSum(ends[from[edge]], delayNs[edge]);
        if (readyNs <= start || isDropped(edge, scale)) continue;
        start = readyNs;
        if (binding != nullptr) *binding = edge;
    }
    return start == std::numeric_limits<int64_t>::min() ? startNs[node] : start;
}

std::vector<int64_t> CausalGraph::replay(std::span<const Scale> scales) const {
    std::vector<int64_t> ends(size());
    for (Node node = 0; node < size(); ++node) {
        const Scale scale = scales.empty() ? Scale() : scales[group[node]];
        const int64_t own = scale.factor == 1 ? ownNs[node] : scaled(ownNs[node], scale.factor);
        ends[node] = boundedSum(startIn(node, ends, scale), boundedSum(own, scale.addedNs));
    }
    return ends;
}

std::vector<CausalGraph::PathPart> CausalGraph::pathTo(Node node, std::span<const int64_t> ends,
                                                       std::span<const Scale> scales, int64_t untilNs) const {
    std::vector<PathPart> parts;
    while (true) {
        PathPart part{node, SIZE_MAX, 0, ends[node]};
        part.startNs = startIn(node, ends, scales.empty() ? Scale() : scales[group[node]], &part.edge);
        parts.push_back(part);
        if (part.edge == SIZE_MAX || part.startNs <= untilNs) return parts;
        node = from[part.edge];
    }
}

}  // namespace lanescope::causality
