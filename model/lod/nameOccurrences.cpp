// SPDX-License-Identifier: Apache-2.0
#include "model/lod/nameOccurrences.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/numbers/Statistics.h"
#include "model/trace/tasks.h"

namespace lanescope {

namespace {

/// Threshold of the ratio longest to shortest: beyond it, bars of equal width would put nearly all
/// events into the first.
constexpr double logarithmicRatioThreshold = 20;

template <class Value>
std::vector<Value> inOrder(const std::vector<Value>& values, const std::vector<size_t>& order) {
    std::vector<Value> sorted;
    sorted.reserve(order.size());
    for (const size_t index : order) sorted.push_back(values[index]);
    return sorted;
}

}  // namespace

size_t NameOccurrences::longest() const {
    return static_cast<size_t>(std::max_element(durationNs.begin(), durationNs.end()) - durationNs.begin());
}

NameOccurrences occurrencesOf(const Trace& trace, EventRef event, const std::stop_token& stop) {
    NameOccurrences found;
    const SliceLocation at =
        event.isValid() && event.kind() != EventKind::CounterSample ? trace.locate(event) : SliceLocation();
    if (!at.isValid()) return found;
    const StringIndex name = trace.tracks[at.track].lanes[at.lane].name[at.slice];
    found.name = trace.strings.at(name);
    found.kind = event.kind();
    for (const Track& track : trace.tracks) {
        for (const Lane& lane : track.lanes) {
            if (lane.size() == 0 || lane.isSummary()) continue;
            for (uint32_t slice = 0; slice < lane.size() && !isStopped(stop, slice); ++slice) {
                if (lane.name[slice] != name) continue;
                const EventRef each = lane.event[slice];
                if (!each.isValid() || each.kind() != found.kind) continue;
                found.events.push_back(each);
                found.startNs.push_back(lane.startNs[slice]);
                found.durationNs.push_back(lane.durationNs[slice]);
            }
        }
    }
    if (found.isEmpty()) return found;
    std::vector<size_t> order(found.events.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return found.startNs[a] < found.startNs[b]; });
    found.events = inOrder(found.events, order);
    found.startNs = inOrder(found.startNs, order);
    found.durationNs = inOrder(found.durationNs, order);
    for (const int64_t durationNs : found.durationNs)
        if (__builtin_add_overflow(found.totalNs, durationNs, &found.totalNs)) found.totalNs = INT64_MAX;
    const auto [minNs, maxNs] = std::minmax_element(found.durationNs.begin(), found.durationNs.end());
    found.minNs = *minNs;
    found.maxNs = *maxNs;
    found.medianNs = std::llround(quantileOf(found.durationNs, 0.5));
    return found;
}

DurationHistogram durationHistogram(const NameOccurrences& occurrences, size_t barCount) {
    DurationHistogram histogram;
    if (occurrences.isEmpty() || barCount == 0) return histogram;
    // A finished trace has no negative durations; a ratio needs 1 ns or more.
    const double minNs = static_cast<double>(std::max<int64_t>(1, occurrences.minNs));
    const double maxNs = std::max(minNs, static_cast<double>(occurrences.maxNs));
    histogram.isLogarithmic = maxNs > logarithmicRatioThreshold * minNs;
    const auto differing = static_cast<size_t>(std::min(maxNs - minNs + 1, 1e6));
    const size_t count = std::min(barCount, differing);
    const double from = histogram.isLogarithmic ? std::log(minNs) : minNs;
    const double until = histogram.isLogarithmic ? std::log(maxNs) : maxNs + 1;
    const auto edge = [&](size_t bar) {
        const double place = from + (until - from) * static_cast<double>(bar) / static_cast<double>(count);
        return static_cast<int64_t>(std::llround(histogram.isLogarithmic ? std::exp(place) : place));
    };
    for (size_t bar = 0; bar < count; ++bar) histogram.bars.push_back({edge(bar), edge(bar + 1), 0, 0});
    for (size_t index = 0; index < occurrences.durationNs.size(); ++index) {
        const int64_t durationNs = occurrences.durationNs[index];
        const auto next =
            std::partition_point(histogram.bars.begin(), histogram.bars.end(),
                                 [&](const DurationHistogram::Bar& bar) { return bar.untilNs <= durationNs; });
        auto& bar = next == histogram.bars.end() ? histogram.bars.back() : *next;
        if (bar.count == 0 || occurrences.durationNs[bar.longest] < durationNs) bar.longest = index;
        histogram.maxBarCount = std::max(histogram.maxBarCount, ++bar.count);
    }
    return histogram;
}

}  // namespace lanescope
