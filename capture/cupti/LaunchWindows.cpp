// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/LaunchWindows.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lanescope::agent {

namespace {

LaunchWindows::Answer answerOf(uint64_t stretch) {
    return Windows::isWindow(stretch) ? LaunchWindows::Answer::Inside
                                      : LaunchWindows::Answer::Outside;
}

}  // namespace

/// CUPTI's numbers start again after 2^32 calls; these do not.
int64_t LaunchWindows::numberOf(uint32_t correlationId) const {
    return newest_ + static_cast<int32_t>(correlationId - static_cast<uint32_t>(newest_));
}

void LaunchWindows::sawCall(uint32_t correlationId, int64_t startNs) {
    const int64_t number = numberOf(correlationId);
    newest_ = std::max(newest_, number);
    put(number, windows_.stretchAt(startNs));
    while (runs_.size() > mostRuns) runs_.erase(runs_.begin());
}

void LaunchWindows::put(int64_t number, uint64_t stretch) {
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
        const auto around = std::prev(next);
        Run& run = around->second;
        if (number <= run.last) {
            if (run.stretch == stretch) return;
            // A thread was held up between being given its number and beginning the call.
            if (number < run.last) next = runs_.emplace_hint(next, number + 1, run);
            if (around->first < number)
                run.last = number - 1;
            else
                next = runs_.erase(around);
        }
    }
    const auto before = next == runs_.begin() ? runs_.end() : std::prev(next);
    const bool extendsBefore = before != runs_.end() && before->second.stretch == stretch;
    const bool extendsNext = next != runs_.end() && next->second.stretch == stretch;
    if (extendsBefore) {
        before->second.last = extendsNext ? next->second.last : number;
        if (extendsNext) runs_.erase(next);
    } else if (extendsNext) {
        auto run = runs_.extract(next);
        run.key() = number;
        runs_.insert(std::move(run));
    } else {
        runs_.emplace_hint(next, number, Run{number, stretch});
    }
}

LaunchWindows::Range LaunchWindows::rangeOf(uint32_t correlationId, int64_t ranNs) const {
    const int64_t number = numberOf(correlationId);
    const auto next = runs_.upper_bound(number);
    Range range{0, windows_.latestStretch()};
    if (next != runs_.end()) range.latest = next->second.stretch;
    if (next != runs_.begin()) {
        const Run& before = std::prev(next)->second;
        if (number <= before.last) return {before.stretch, before.stretch};
        range.earliest = before.stretch;
    }
    // Nothing runs before it is launched.
    if (ranNs > 0) range.latest = std::min(range.latest, windows_.stretchAt(ranNs));
    range.latest = std::max(range.latest, range.earliest);
    return range;
}

LaunchWindows::Answer LaunchWindows::find(uint32_t correlationId, int64_t ranNs) const {
    if (!knowsCalls_) return windows_.isOpenAt(ranNs) ? Answer::Inside : Answer::Outside;
    const Range range = rangeOf(correlationId, ranNs);
    return range.earliest == range.latest ? answerOf(range.latest) : Answer::NotYetKnown;
}

LaunchWindows::Answer LaunchWindows::guess(uint32_t correlationId, int64_t ranNs) const {
    if (!knowsCalls_) return find(correlationId, ranNs);
    // Launched by a call that is not recorded, between two that are.
    const Range range = rangeOf(correlationId, ranNs);
    return answerOf(ranNs > 0 ? range.latest : range.earliest);
}

}  // namespace lanescope::agent
