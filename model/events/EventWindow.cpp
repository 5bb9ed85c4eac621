// SPDX-License-Identifier: Apache-2.0
#include "model/events/EventWindow.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "model/trace/kinds/eventFacts.h"

namespace lanescope {

namespace {

/// How many waits before the range are looked at for one that is still under way.
constexpr uint32_t mostWaitsAgo = 65'536;

int orderOf(EventKind kind) {
    return static_cast<int>(std::ranges::find(kindsInOrder(), kind) - kindsInOrder().begin());
}

}  // namespace

EventKinds EventKinds::recorded() {
    EventKinds kinds;
    for (const EventKind kind : kindsInOrder())
        if (isRecorded(kind)) kinds.add(kind);
    return kinds;
}

EventWindow::EventWindow(const Trace& trace, TimeRange range, EventKinds wanted)
    : trace_(&trace), range_(range) {
    addStraddling(range, wanted);
    size_ = static_cast<int64_t>(straddling_.size());
    for (const EventKind kind : kindsInOrder()) {
        if (!wanted.has(kind) || isSampled(kind)) continue;
        const Interval whole{kind, 0, trace.rowCount(kind)};
        const Interval inside{kind, lowerRow(whole, range.startNs), lowerRow(whole, range.endNs)};
        if (inside.first >= inside.end) continue;
        intervals_.push_back(inside);
        size_ += inside.end - inside.first;
    }
}

/// The slices of a lane do not overlap, so at most one of each was under way.
void EventWindow::addStraddling(TimeRange range, EventKinds wanted) {
    for (const Track& track : trace_->tracks) {
        for (const Lane& lane : track.lanes) {
            uint32_t low = 0, high = lane.size();
            while (low < high) {
                const uint32_t middle = low + (high - low) / 2;
                lane.startNs[middle] < range.startNs ? low = middle + 1 : high = middle;
            }
            if (low == 0 || lane.endNs(low - 1) <= range.startNs) continue;
            const EventRef event = lane.event[low - 1];
            if (!event.isValid() || !wanted.has(event.kind())) continue;
            // The slice of a function lasts as long as samples see it, its event for one of them.
            const TimeRange own = trace_->rangeOf(event);
            if (own.startNs < range.startNs && own.endNs > range.startNs)
                straddling_.push_back(event);
        }
    }
    if (wanted.has(EventKind::Sync)) addWaiting(range);
    std::sort(straddling_.begin(), straddling_.end(), [this](EventRef a, EventRef b) {
        return std::tuple(startOf(a.kind(), a.row()), orderOf(a.kind()), a.row()) <
               std::tuple(startOf(b.kind(), b.row()), orderOf(b.kind()), b.row());
    });
    straddling_.erase(std::unique(straddling_.begin(), straddling_.end()), straddling_.end());
}

/// Waits stand on no lane of their own; each thread has one at most under way.
void EventWindow::addWaiting(TimeRange range) {
    const uint32_t end = lowerRow({EventKind::Sync, 0, trace_->syncs.size()}, range.startNs);
    for (uint32_t row = end - std::min(end, mostWaitsAgo); row < end; ++row)
        if (trace_->syncs.endNs[row] > range.startNs)
            straddling_.emplace_back(EventKind::Sync, row);
}

int64_t EventWindow::startOf(EventKind kind, uint32_t row) const {
    return trace_->rangeOf(EventRef(kind, row)).startNs;
}

uint32_t EventWindow::lowerRow(const Interval& interval, int64_t timeNs) const {
    uint32_t low = interval.first, high = interval.end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        startOf(interval.kind, middle) < timeNs ? low = middle + 1 : high = middle;
    }
    return low;
}

int64_t EventWindow::countBefore(int64_t timeNs) const {
    int64_t count = 0;
    for (const Interval& interval : intervals_)
        count += lowerRow(interval, timeNs) - interval.first;
    return count;
}

std::vector<EventWindow::Interval> EventWindow::after(int64_t index) const {
    // The latest start before which no more than `index` events begin.
    int64_t low = range_.startNs, high = range_.endNs;
    while (low < high) {
        // Rounded up; the ends may lie further apart than a signed number can say.
        const auto apart = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
        const auto middle =
            static_cast<int64_t>(static_cast<uint64_t>(low) + apart / 2 + (apart & 1));
        countBefore(middle) <= index ? low = middle : high = middle - 1;
    }
    std::vector<Interval> rest = intervals_;
    int64_t passed = 0;
    for (Interval& interval : rest) {
        const uint32_t row = lowerRow(interval, low);
        passed += row - interval.first;
        interval.first = row;
    }
    // Those that begin at that very moment stand kind by kind.
    for (Interval& interval : rest) {
        while (passed < index && interval.first < interval.end &&
               startOf(interval.kind, interval.first) == low) {
            const uint32_t same = low < std::numeric_limits<int64_t>::max()
                                      ? lowerRow(interval, low + 1)
                                      : interval.end;
            const int64_t step = std::min<int64_t>(index - passed, same - interval.first);
            interval.first += static_cast<uint32_t>(step);
            passed += step;
        }
    }
    return rest;
}

std::vector<EventRef> EventWindow::slice(int64_t first, int64_t count) const {
    std::vector<EventRef> events;
    first = std::clamp<int64_t>(first, 0, size_);
    count = std::clamp<int64_t>(count, 0, size_ - first);
    events.reserve(static_cast<size_t>(count));
    const auto early = static_cast<int64_t>(straddling_.size());
    for (; count > 0 && first < early; ++first, --count)
        events.push_back(straddling_[static_cast<size_t>(first)]);
    if (count == 0) return events;
    std::vector<Interval> rest = after(first - early);
    for (; count > 0; --count) {
        Interval* next = nullptr;
        int64_t earliest = 0;
        for (Interval& interval : rest) {
            if (interval.first >= interval.end) continue;
            const int64_t start = startOf(interval.kind, interval.first);
            if (next && start >= earliest) continue;
            next = &interval;
            earliest = start;
        }
        if (!next) break;
        events.emplace_back(next->kind, next->first++);
    }
    return events;
}

std::optional<int64_t> EventWindow::indexOf(EventRef event) const {
    const auto straddling = std::ranges::find(straddling_, event);
    if (straddling != straddling_.end()) return straddling - straddling_.begin();
    if (!trace_ || !event.isValid()) return std::nullopt;
    const auto own = std::ranges::find(intervals_, event.kind(), &Interval::kind);
    if (own == intervals_.end() || event.row() < own->first || event.row() >= own->end)
        return std::nullopt;
    const int64_t start = startOf(event.kind(), event.row());
    int64_t index = static_cast<int64_t>(straddling_.size()) + countBefore(start);
    for (const Interval& interval : intervals_) {
        const uint32_t first = lowerRow(interval, start);
        if (interval.kind == event.kind()) return index + (event.row() - first);
        index += lowerRow(interval, start + 1) - first;
    }
    return std::nullopt;
}

}  // namespace lanescope
