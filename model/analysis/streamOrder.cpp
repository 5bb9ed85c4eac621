// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/streamOrder.h"

#include <algorithm>
#include <map>

#include "model/numbers/Statistics.h"

namespace lanescope::analysis {

namespace {

/// Shares of the time of all work: minimum of a stream that counts; maxima of the default stream and of overlaps.
constexpr double minStreamShare = 0.05, maxDefaultShare = 0.10, maxOverlapShare = 0.01;
/// Minimum operations on the default stream per step. Fewer operations order little.
constexpr double minOperationsPerStep = 0.5;

/// Returns `noIndex` for work without a stream.
uint32_t streamOf(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Kernel) return trace.kernels.stream[event.row()];
    if (event.kind() == EventKind::Memcpy) return trace.memcpys.stream[event.row()];
    if (event.kind() == EventKind::Memset) return trace.memsets.stream[event.row()];
    return noIndex;
}

}  // namespace

StreamOrder streamOrder(const Trace& trace, const WorkList& work, std::span<const TimeRange> steps) {
    std::map<uint32_t, int64_t> spentNs;  // By stream but the default one.
    int64_t defaultNs = 0, overlapNs = 0, otherNs = 0, untilNs = INT64_MIN, operations = 0;
    auto step = steps.begin();
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        while (step != steps.end() && step->endNs <= each->startNs) ++step;
        if (step == steps.end()) break;
        const uint32_t stream = streamOf(trace, each->event);
        if (each->startNs < step->startNs || stream == noIndex) continue;
        const int64_t ns = each->endNs - each->startNs;
        if (trace.streams[stream].isNullStream) {
            defaultNs = saturatingSum(defaultNs, ns);
            ++operations;
            continue;
        }
        spentNs[stream] = saturatingSum(spentNs[stream], ns);
        otherNs = saturatingSum(otherNs, ns);
        if (untilNs > each->startNs)
            overlapNs = saturatingSum(overlapNs, std::min(untilNs, each->endNs) - each->startNs);
        untilNs = std::max(untilNs, each->endNs);
    }
    const auto allNs = static_cast<double>(otherNs) + static_cast<double>(defaultNs);
    const auto streams = std::ranges::count_if(
        spentNs, [&](const auto& each) { return static_cast<double>(each.second) >= minStreamShare * allNs; });
    const bool isOrdered =
        streams >= 2 && static_cast<double>(operations) >= minOperationsPerStep * static_cast<double>(steps.size()) &&
        static_cast<double>(defaultNs) <= maxDefaultShare * allNs &&
        static_cast<double>(overlapNs) <= maxOverlapShare * allNs;
    return isOrdered ? StreamOrder{streams, operations} : StreamOrder();
}

}  // namespace lanescope::analysis
