#include "model/summary/rangeProjections.h"

#include <map>
#include <utility>

namespace lanescope {

namespace {

/// Counts children: rows come by start, so the open ranges of a thread and domain form a stack.
void countChildren(const NvtxTable& nvtx, std::vector<RangeProjection>& projections) {
    std::map<std::pair<uint32_t, StringIndex>, std::vector<uint32_t>> openRanges;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] != NvtxStyle::PushPop) continue;
        std::vector<uint32_t>& open = openRanges[{nvtx.thread[row], nvtx.domain[row]}];
        // The depth says how many ranges are open around this one; the others have ended.
        if (open.size() > nvtx.depth[row]) open.resize(nvtx.depth[row]);
        if (!open.empty() && projections[row].operationCount > 0)
            ++projections[open.back()].childCount;
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
    countChildren(trace.nvtx, result);
    return result;
}

}  // namespace lanescope
