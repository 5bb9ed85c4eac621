// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/LaunchWindows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace lanescope::agent {

namespace {

/// Maximum difference between the clocks of GPU and host.
constexpr int64_t clockSkewNs = 1'000'000;
/// Maximum number of delayed calls that are skipped in a search.
constexpr size_t maxDelayedCalls = 64;
/// Number of latest numbers that are tracked one by one, for which the GPU may still have work.
constexpr size_t maxTrackedNumbers = size_t{1} << 20;
/// Maximum numbers assigned while a thread is delayed between getting its number and beginning the call.
constexpr int64_t maxNumbersAhead = 1 << 14;

size_t placeOf(int64_t number) { return static_cast<uint64_t>(number) % maxTrackedNumbers; }

LaunchWindows::Answer answerOf(uint64_t interval) {
    return Windows::isWindow(interval) ? LaunchWindows::Answer::Inside : LaunchWindows::Answer::Outside;
}

}  // namespace

/// Returns a number that does not wrap. CUPTI's numbers start again after 2^32 calls.
int64_t LaunchWindows::numberOf(uint32_t correlationId) const {
    return newest_ + static_cast<int32_t>(correlationId - static_cast<uint32_t>(newest_));
}

void LaunchWindows::markSeen(int64_t number) {
    const int64_t first = std::max(newest_ + 1, number - static_cast<int64_t>(maxTrackedNumbers) + 1);
    for (int64_t passed = first; passed < number; ++passed) seen_[placeOf(passed)] = false;
    newest_ = std::max(newest_, number);
    if (newest_ - number < static_cast<int64_t>(maxTrackedNumbers)) seen_[placeOf(number)] = true;
}

bool LaunchWindows::wasSeen(int64_t number) const {
    const bool isKnown =
        number <= newest_ && newest_ - number < static_cast<int64_t>(maxTrackedNumbers) && !seen_.empty();
    return isKnown && seen_[placeOf(number)];
}

bool LaunchWindows::addCall(uint32_t correlationId, int64_t startNs) {
    if (seen_.empty()) seen_.resize(maxTrackedNumbers);
    const int64_t number = numberOf(correlationId);
    const uint64_t interval = windows_.intervalAt(startNs);
    Run* const latest = runs_.empty() ? nullptr : &runs_.rbegin()->second;
    if (latest && latest->last < number && latest->interval == interval)
        latest->last = number;
    else
        put(number, interval);
    markSeen(number);  // only after a run contains it, in case of missing memory
    while (runs_.size() > maxRuns) runs_.erase(runs_.begin());
    return Windows::isWindow(interval);
}

void LaunchWindows::put(int64_t number, uint64_t interval) {
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
        const auto around = std::prev(next);
        Run& run = around->second;
        if (number <= run.last) {
            if (run.interval == interval) return;
            // A thread was delayed between getting its number and beginning the call.
            if (number < run.last) next = runs_.emplace_hint(next, number + 1, run);
            if (around->first < number)
                run.last = number - 1;
            else
                next = runs_.erase(around);
        }
    }
    const auto before = next == runs_.begin() ? runs_.end() : std::prev(next);
    const bool extendsBefore = before != runs_.end() && before->second.interval == interval;
    const bool extendsNext = next != runs_.end() && next->second.interval == interval;
    if (extendsBefore) {
        before->second.last = extendsNext ? next->second.last : number;
        if (extendsNext) runs_.erase(next);
    } else if (extendsNext) {
        auto run = runs_.extract(next);
        run.key() = number;
        runs_.insert(std::move(run));
    } else {
        runs_.emplace_hint(next, number, Run{number, interval});
    }
}

/// Returns the intervals in which calls with similar numbers began, for a call that has not arrived.
LaunchWindows::Range LaunchWindows::near(int64_t number, int64_t ranNs) const {
    Range range{std::numeric_limits<uint64_t>::max(), 0};
    const auto add = [&range](uint64_t interval) {
        range.earliest = std::min(range.earliest, interval);
        range.latest = std::max(range.latest, interval);
    };
    if (number + maxNumbersAhead > newest_) add(windows_.latestInterval());
    if (runs_.empty() || number - maxNumbersAhead < runs_.begin()->first) add(0);
    auto run = runs_.upper_bound(number - maxNumbersAhead);
    if (run != runs_.begin() && std::prev(run)->second.last >= number - maxNumbersAhead) --run;
    for (; run != runs_.end() && run->first <= number + maxNumbersAhead; ++run) {
        add(run->second.interval);
        if (range.earliest != range.latest) break;
    }
    if (range.earliest > range.latest) return nearest(number, ranNs);
    // Work never runs before it is launched.
    if (ranNs > 0) range.latest = std::min(range.latest, windows_.intervalAt(ranNs + clockSkewNs));
    return {std::min(range.earliest, range.latest), range.latest};
}

/// Returns the intervals of the calls just before and just after it.
LaunchWindows::Range LaunchWindows::nearest(int64_t number, int64_t ranNs) const {
    Range range{0, windows_.latestInterval()};
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
        const Run& before = std::prev(next)->second;
        range.earliest = before.interval;
        if (number <= before.last) range.latest = before.interval;
    }
    // Its number was assigned before any later number, so before any of those calls began. The very
    // next call may be of a delayed thread.
    for (size_t checked = 0; checked < maxDelayedCalls && next != runs_.end(); ++checked, ++next)
        range.latest = std::min(range.latest, next->second.interval);
    if (ranNs > 0) range.latest = std::min(range.latest, windows_.intervalAt(ranNs));
    return {std::min(range.earliest, range.latest), range.latest};
}

LaunchWindows::Answer LaunchWindows::find(uint32_t correlationId, int64_t ranNs) const {
    if (!hasCalls_) return windows_.isOpenAt(ranNs) ? Answer::Inside : Answer::Outside;
    const int64_t number = numberOf(correlationId);
    if (const auto next = runs_.upper_bound(number); wasSeen(number) && next != runs_.begin())
        return answerOf(std::prev(next)->second.interval);
    const Range range = near(number, ranNs);
    return range.earliest == range.latest ? answerOf(range.latest) : Answer::NotYetKnown;
}

LaunchWindows::Answer LaunchWindows::guess(uint32_t correlationId, int64_t ranNs) const {
    if (const Answer known = find(correlationId, ranNs); known != Answer::NotYetKnown) return known;
    // Launched by a call that is not recorded, between two recorded calls.
    const Range range = nearest(numberOf(correlationId), ranNs);
    return answerOf(ranNs > 0 ? range.latest : range.earliest);
}

}  // namespace lanescope::agent
