// SPDX-License-Identifier: Apache-2.0
#include "model/lod/SelectionStatistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/lod/SumTable.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatTable.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// Threshold of longest to shortest: beyond it, bars of equal width would put nearly all events into the first.
constexpr double logarithmicRatioThreshold = 20;

template <class Value>
std::vector<Value> inOrder(const std::vector<Value>& values, const std::vector<size_t>& order) {
    return mapped(order, [&](size_t index) { return values[index]; });
}

/// Returns true if busy time is meaningful for tracks of this kind.
bool isBusyKind(TrackKind kind) {
    return kind == TrackKind::Gpu || kind == TrackKind::Stream || kind == TrackKind::Process ||
           kind == TrackKind::Thread;
}

/// Only the first and the last slice can extend beyond the range, because slices of a lane never overlap.
void sumRange(const Trace& trace, const Lane& lane, const LaneSums& sums, TimeRange range, SumTable& table) {
    SliceRun run = slicesIn(lane, range);
    const auto addClipped = [&](uint32_t slice) {
        table.add(sumKeyOf(trace, lane, slice), sumsOfSlice(trace, lane, slice, range));
    };
    if (run.isEmpty()) return;
    if (lane.startNs[run.first] < range.startNs) addClipped(run.first++);
    if (run.isEmpty()) return;
    if (lane.endNs(run.end - 1) > range.endNs) addClipped(--run.end);
    sumSlices(trace, lane, sums, run.first, run.end, table);
}

class Selection {
  public:
    Selection(const Trace& trace, const TraceSums& sums, TimeRange range) : trace_(trace), sums_(sums) {
        result_.range = range;
    }

    void addTrack(uint32_t index) {
        const Track& track = trace_.tracks[index];
        // Without sums it is slower.
        static const TrackSums noTrackSums{};
        static const LaneSums noLaneSums{};
        const bool hasSums = index < sums_.tracks.size();
        const TrackSums& sums = hasSums ? sums_.tracks[index] : noTrackSums;
        if (isBusyKind(track.kind)) result_.busy.push_back({index, busyTime(track.lanes, sums.busy, result_.range)});
        if (!holdsEvents(track.kind)) return;
        for (size_t lane = 0; lane < track.lanes.size(); ++lane)
            sumRange(trace_, track.lanes[lane], lane < sums.lanes.size() ? sums.lanes[lane] : noLaneSums, result_.range,
                     table_);
    }

    SelectionStatistics take() {
        table_.forEach([this](SumKey key, const Sums& sums) {
            if (key.kind() == EventKind::Memcpy || key.kind() == EventKind::Memset)
                result_.copies.push_back({key, sums});
            else
                result_.names.push_back({key, sums});
        });
        std::ranges::sort(result_.names, [](const auto& a, const auto& b) {
            return a.sums.totalNs != b.sums.totalNs ? a.sums.totalNs > b.sums.totalNs : a.key < b.key;
        });
        std::ranges::sort(result_.copies, [](const auto& a, const auto& b) {
            return a.sums.bytes != b.sums.bytes ? a.sums.bytes > b.sums.bytes : a.key < b.key;
        });
        return std::move(result_);
    }

  private:
    const Trace& trace_;
    const TraceSums& sums_;
    SumTable table_;
    SelectionStatistics result_;
};

double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

size_t NameOccurrences::longest() const {
    return static_cast<size_t>(std::ranges::max_element(durationNs) - durationNs.begin());
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
    std::ranges::stable_sort(order, {}, [&](size_t each) { return found.startNs[each]; });
    found.events = inOrder(found.events, order);
    found.startNs = inOrder(found.startNs, order);
    found.durationNs = inOrder(found.durationNs, order);
    for (const int64_t durationNs : found.durationNs)
        if (__builtin_add_overflow(found.totalNs, durationNs, &found.totalNs)) found.totalNs = INT64_MAX;
    const auto [minNs, maxNs] = std::ranges::minmax_element(found.durationNs);
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
        const auto next = std::ranges::partition_point(
            histogram.bars, [&](const DurationHistogram::Bar& bar) { return bar.untilNs <= durationNs; });
        auto& bar = next == histogram.bars.end() ? histogram.bars.back() : *next;
        if (bar.count == 0 || occurrences.durationNs[bar.longest] < durationNs) bar.longest = index;
        histogram.maxBarCount = std::max(histogram.maxBarCount, ++bar.count);
    }
    return histogram;
}

std::string nameOf(const Trace& trace, SumKey key) {
    if (key.kind() == EventKind::Memcpy)
        return fmt::format("{} {} → {}", name(key.memcpyKind()), name(key.source()), name(key.destination()));
    if (key.kind() == EventKind::Memset) return fmt::format("memset {}", name(key.destination()));
    return std::string(trace.strings.at(key.name()));
}

SelectionStatistics selectionStatistics(const Trace& trace, const TraceSums& sums, TimeRange range,
                                        std::optional<std::span<const uint32_t>> tracks) {
    Selection selection(trace, sums, range);
    const size_t count = trace.tracks.size();
    if (tracks) {
        for (const uint32_t track : *tracks)
            if (track < count) selection.addTrack(track);
    } else {
        for (uint32_t track = 0; track < count; ++track) selection.addTrack(track);
    }
    return selection.take();
}

ReportTable selectedNames(const Trace& trace, const SelectionStatistics& statistics, size_t maxNames) {
    ReportTable table;
    table.name = "selection_names";
    table.title = "Selection";
    table.columns = {{"What", Unit::Text},        {"Total", Unit::Nanoseconds}, {"Count", Unit::Count},
                     {"Mean", Unit::Nanoseconds}, {"Min", Unit::Nanoseconds},   {"Max", Unit::Nanoseconds},
                     {"Name", Unit::Text}};
    std::array<size_t, EventRef::kindLimit> taken{};
    for (const NameStatistics& entry : statistics.names) {
        if (++taken[static_cast<size_t>(entry.key.kind())] > maxNames) continue;
        table.searches.push_back(nameOf(trace, entry.key));
        table.rows.push_back({std::string(nameOfKind(entry.key.kind())), entry.sums.totalNs, entry.sums.count,
                              entry.meanNs(), entry.sums.minimumNs, entry.sums.maximumNs, table.searches.back()});
    }
    return table;
}

ReportTable selectedCopies(const SelectionStatistics& statistics) {
    ReportTable table;
    table.name = "selection_copies";
    table.title = "Copies in the selection";
    table.columns = {{"Kind", Unit::Text},   {"Memory", Unit::Text}, {"Mean", Unit::GigabytesPerSecond},
                     {"Total", Unit::Bytes}, {"Count", Unit::Count}, {"Total Time", Unit::Nanoseconds}};
    for (const CopyTotals& entry : statistics.copies) {
        const bool isMemset = entry.key.kind() == EventKind::Memset;
        const std::string kind = isMemset ? "memset" : std::string(name(entry.key.memcpyKind()));
        const std::string source = isMemset ? "" : fmt::format("{} \u2192 ", name(entry.key.source()));
        table.searches.push_back(isMemset ? kind : searchName(entry.key.memcpyKind()));
        table.rows.push_back({kind, source + std::string(name(entry.key.destination())), entry.meanGBps(),
                              entry.sums.bytes, entry.sums.count, entry.sums.totalNs});
    }
    return table;
}

std::string selectionHeadline(const Trace& trace, const SelectionStatistics& statistics) {
    constexpr int maxShownNames = 16;
    std::string text = formatDuration(statistics.range.durationNs()) + " selected";
    int shown = 0;
    for (const BusyStatistics& busy : statistics.busy) {
        const Track& track = trace.tracks[busy.track];
        if (track.kind != TrackKind::Gpu || ++shown > maxShownNames) continue;
        text += fmt::format("{} {} busy {:.1f} %", shown == 1 ? ":" : ",", track.title,
                            percent(busy.busyNs, statistics.range.durationNs()));
    }
    return text;
}

}  // namespace lanescope
