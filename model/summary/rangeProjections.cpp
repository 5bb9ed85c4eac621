// SPDX-License-Identifier: Apache-2.0
#include "model/summary/rangeProjections.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace lanescope {

namespace {

constexpr size_t mostOpenRanges =
    256;  // keeps a file of ranges that all overlap from taking for ever

/// The row of the shortest open range that lies around `row`, or `noIndex`.
uint32_t enclosingRange(const NvtxTable& nvtx, const std::vector<uint32_t>& open, uint32_t row) {
    uint32_t tightest = noIndex;
    const size_t first = open.size() > mostOpenRanges ? open.size() - mostOpenRanges : 0;
    for (size_t at = open.size(); at-- > first;) {
        const uint32_t other = open[at];
        if (nvtx.endNs[other] < nvtx.endNs[row]) continue;
        const auto length = [&](uint32_t range) { return nvtx.endNs[range] - nvtx.startNs[range]; };
        if (tightest == noIndex || length(other) < length(tightest)) tightest = other;
    }
    return tightest;
}

/// Finds the range around each range: of the same thread, of any domain and style, as start-end
/// ranges need not nest.
void nest(const NvtxTable& nvtx, std::vector<RangeProjection>& projections) {
    std::vector<uint32_t> rows(nvtx.size());
    std::iota(rows.begin(), rows.end(), 0u);
    // By thread and start; of those that start together the longer lies around the shorter.
    std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
        if (nvtx.thread[a] != nvtx.thread[b]) return nvtx.thread[a] < nvtx.thread[b];
        if (nvtx.startNs[a] != nvtx.startNs[b]) return nvtx.startNs[a] < nvtx.startNs[b];
        if (nvtx.endNs[a] != nvtx.endNs[b]) return nvtx.endNs[a] > nvtx.endNs[b];
        return a < b;
    });
    std::vector<uint32_t> open;
    uint32_t thread = noIndex;
    for (const uint32_t row : rows) {
        if (nvtx.style[row] == NvtxStyle::Mark) continue;
        if (std::exchange(thread, nvtx.thread[row]) != nvtx.thread[row]) open.clear();
        while (!open.empty() && nvtx.endNs[open.back()] < nvtx.startNs[row]) open.pop_back();
        const uint32_t parent = enclosingRange(nvtx, open, row);
        if (parent != noIndex) {
            projections[row].level = projections[parent].level + 1;
            if (projections[row].operationCount > 0) ++projections[parent].childCount;
        }
        open.push_back(row);
    }
}

}  // namespace

std::vector<RangeProjection> projectRanges(const Trace& trace) {
    std::vector<RangeProjection> result(trace.nvtx.size());
    const ProjectionTable& projections = trace.projections;
    for (uint32_t row = 0; row < projections.size(); ++row) {
        RangeProjection& projection = result[projections.nvtx[row]];
        const TimeRange range{projections.startNs[row], projections.endNs[row]};
        projection.range = projection.operationCount == 0 ? range : projection.range.united(range);
        projection.operationCount += projections.operationCount[row];
    }
    nest(trace.nvtx, result);
    return result;
}

}  // namespace lanescope
