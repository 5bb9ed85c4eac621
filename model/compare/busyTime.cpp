#include "model/compare/busyTime.h"

#include <algorithm>

namespace lanescope {

namespace {

using Stretches = std::vector<TimeRange>;

template <class Table>
void append(const Trace& trace, const Table& table, TimeRange range,
            std::vector<Stretches>& stretchesOf) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const TimeRange stretch =
            TimeRange{table.startNs[row], table.endNs[row]}.intersected(range);
        if (!stretch.isEmpty())
            stretchesOf[trace.streams[table.stream[row]].gpu].push_back(stretch);
    }
}

int64_t lengthOfUnion(Stretches& stretches) {
    std::sort(stretches.begin(), stretches.end(),
              [](TimeRange a, TimeRange b) { return a.startNs < b.startNs; });
    int64_t length = 0;
    int64_t coveredUntil = stretches.empty() ? 0 : stretches.front().startNs;
    for (const TimeRange& stretch : stretches) {
        const int64_t fresh = std::max(stretch.startNs, coveredUntil);
        if (stretch.endNs > fresh) length += stretch.endNs - fresh;
        coveredUntil = std::max(coveredUntil, stretch.endNs);
    }
    return length;
}

}  // namespace

std::vector<int64_t> busyTimePerGpu(const Trace& trace, TimeRange range) {
    std::vector<Stretches> stretchesOf(trace.gpus.size());
    append(trace, trace.kernels, range, stretchesOf);
    append(trace, trace.memcpys, range, stretchesOf);
    append(trace, trace.memsets, range, stretchesOf);
    std::vector<int64_t> busy;
    busy.reserve(stretchesOf.size());
    for (Stretches& stretches : stretchesOf) busy.push_back(lengthOfUnion(stretches));
    return busy;
}

}  // namespace lanescope
