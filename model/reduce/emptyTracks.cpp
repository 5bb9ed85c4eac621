// SPDX-License-Identifier: Apache-2.0
#include "model/reduce/emptyTracks.h"

#include <algorithm>

#include "model/trace/counterPairs.h"

namespace lanescope {
namespace {

bool isEmptyWithin(const Lane& lane, TimeRange range) {
    // One that ends where the range begins does not lie in it, unless it has no length.
    uint32_t slice = lane.firstEndingAt(range.startNs);
    while (slice < lane.size() && lane.startNs[slice] < range.startNs &&
           lane.endNs(slice) <= range.startNs)
        ++slice;
    return slice >= lane.size() || lane.startNs[slice] >= range.endNs;
}

bool isEmptyWithin(const CounterSeries& counter, TimeRange range) {
    const CounterColumn values = counter.extremesIn(range);
    return !values.hasValue || (values.minimum == 0 && values.maximum == 0);
}

bool overlapsAny(const std::vector<TimeRange>& stretches, TimeRange range) {
    return std::ranges::any_of(stretches,
                               [range](TimeRange stretch) { return stretch.overlaps(range); });
}

}  // namespace

std::vector<bool> emptyTracks(const Trace& trace, TimeRange range) {
    std::vector<bool> isEmpty(trace.tracks.size(), true);
    const CounterPairs pairs = counterPairs(trace.counters);
    const auto isFlat = [&](uint32_t counter) {
        return counter == noIndex || isEmptyWithin(trace.counters[counter], range);
    };
    // Children stand behind their parents.
    for (size_t track = trace.tracks.size(); track-- > 0;) {
        const Track& each = trace.tracks[track];
        const bool hasOwn = each.kind == TrackKind::Counter
                                ? !isFlat(each.subject) || !isFlat(pairs.lowerOf[each.subject])
                                : !std::ranges::all_of(each.lanes, [range](const Lane& lane) {
                                      return isEmptyWithin(lane, range);
                                  });
        if (hasOwn || overlapsAny(each.unrecorded, range) || overlapsAny(each.lossy, range))
            isEmpty[track] = false;
        if (!isEmpty[track] && each.parent >= 0) isEmpty[static_cast<size_t>(each.parent)] = false;
    }
    return isEmpty;
}

}  // namespace lanescope
