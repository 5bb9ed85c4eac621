// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/LaunchWindows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace lanescope::agent {

namespace {

/// By so much the clocks of GPU and host may disagree.
constexpr int64_t clockSkewNs = 1'000'000;
/// So many calls of threads that are held up are looked past.
constexpr size_t mostHeldUp = 64;
/// So many of the latest numbers are known one by one, of which the GPU may still have work.
constexpr size_t mostSeen = size_t{1} << 20;
/// So many numbers may be given while a thread is held up between being given its own and beginning
/// the call.
constexpr int64_t nearNumbers = 1 << 14;

size_t placeOf(int64_t number) {
    return static_cast<uint64_t>(number) % mostSeen;
}

LaunchWindows::Answer answerOf(uint64_t stretch) {
    return Windows::isWindow(stretch) ? LaunchWindows::Answer::Inside
                                      : LaunchWindows::Answer::Outside;
}

}  // namespace

/// CUPTI's numbers start again after 2^32 calls; these do not.
int64_t LaunchWindows::numberOf(uint32_t correlationId) const {
    return newest_ + static_cast<int32_t>(correlationId - static_cast<uint32_t>(newest_));
}

void LaunchWindows::markSeen(int64_t number) {
    const int64_t first = std::max(newest_ + 1, number - static_cast<int64_t>(mostSeen) + 1);
    for (int64_t passed = first; passed < number; ++passed) seen_[placeOf(passed)] = false;
    newest_ = std::max(newest_, number);
    if (newest_ - number < static_cast<int64_t>(mostSeen)) seen_[placeOf(number)] = true;
}

bool LaunchWindows::wasSeen(int64_t number) const {
    const bool isKnown =
        number <= newest_ && newest_ - number < static_cast<int64_t>(mostSeen) && !seen_.empty();
    return isKnown && seen_[placeOf(number)];
}

bool LaunchWindows::sawCall(uint32_t correlationId, int64_t startNs) {
    if (seen_.empty()) seen_.resize(mostSeen);
    const int64_t number = numberOf(correlationId);
    const uint64_t stretch = windows_.stretchAt(startNs);
    Run* const latest = runs_.empty() ? nullptr : &runs_.rbegin()->second;
    if (latest && latest->last < number && latest->stretch == stretch)
        latest->last = number;
    else
        put(number, stretch);
    markSeen(number);  // now that a run has it, whatever memory there was
    while (runs_.size() > mostRuns) runs_.erase(runs_.begin());
    return Windows::isWindow(stretch);
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

/// The stretches in which calls near it in number began, of a call that has not come.
LaunchWindows::Range LaunchWindows::near(int64_t number, int64_t ranNs) const {
    Range range{std::numeric_limits<uint64_t>::max(), 0};
    const auto add = [&range](uint64_t stretch) {
        range.earliest = std::min(range.earliest, stretch);
        range.latest = std::max(range.latest, stretch);
    };
    if (number + nearNumbers > newest_) add(windows_.latestStretch());
    if (runs_.empty() || number - nearNumbers < runs_.begin()->first) add(0);
    auto run = runs_.upper_bound(number - nearNumbers);
    if (run != runs_.begin() && std::prev(run)->second.last >= number - nearNumbers) --run;
    for (; run != runs_.end() && run->first <= number + nearNumbers; ++run) {
        add(run->second.stretch);
        if (range.earliest != range.latest) break;
    }
    if (range.earliest > range.latest) return nearest(number, ranNs);
    // Nothing runs before it is launched.
    if (ranNs > 0) range.latest = std::min(range.latest, windows_.stretchAt(ranNs + clockSkewNs));
    return {std::min(range.earliest, range.latest), range.latest};
}

/// The stretches of those just before and just after it.
LaunchWindows::Range LaunchWindows::nearest(int64_t number, int64_t ranNs) const {
    Range range{0, windows_.latestStretch()};
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
        const Run& before = std::prev(next)->second;
        range.earliest = before.stretch;
        if (number <= before.last) range.latest = before.stretch;
    }
    // Its number was given before any later one was, so before any of those calls began: the very
    // next one may be of a thread that was held up.
    for (size_t looked = 0; looked < mostHeldUp && next != runs_.end(); ++looked, ++next)
        range.latest = std::min(range.latest, next->second.stretch);
    if (ranNs > 0) range.latest = std::min(range.latest, windows_.stretchAt(ranNs));
    return {std::min(range.earliest, range.latest), range.latest};
}

LaunchWindows::Answer LaunchWindows::find(uint32_t correlationId, int64_t ranNs) const {
    if (!knowsCalls_) return windows_.isOpenAt(ranNs) ? Answer::Inside : Answer::Outside;
    const int64_t number = numberOf(correlationId);
    if (const auto next = runs_.upper_bound(number); wasSeen(number) && next != runs_.begin())
        return answerOf(std::prev(next)->second.stretch);
    const Range range = near(number, ranNs);
    return range.earliest == range.latest ? answerOf(range.latest) : Answer::NotYetKnown;
}

LaunchWindows::Answer LaunchWindows::guess(uint32_t correlationId, int64_t ranNs) const {
    const Answer known = find(correlationId, ranNs);
    if (known != Answer::NotYetKnown) return known;
    // Launched by a call that is not recorded, between two that are.
    const Range range = nearest(numberOf(correlationId), ranNs);
    return answerOf(ranNs > 0 ? range.latest : range.earliest);
}

}  // namespace lanescope::agent
