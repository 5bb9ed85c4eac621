// SPDX-License-Identifier: Apache-2.0
#include "model/trace/ThreadTimes.h"

#include <algorithm>
#include <map>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

/// Of a piece that is as long what the kernel counted of the whole is its share, near enough.
constexpr int64_t sharedNs = 1'000'000'000;

/// The part of `ns` that falls into a piece of a whole.
int64_t share(int64_t ns, int64_t pieceNs, int64_t wholeNs) {
    if (pieceNs >= wholeNs) return ns;
    return static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(pieceNs) /
                                static_cast<double>(wholeNs));
}

}  // namespace

ThreadTimes ThreadTimes::withUnseenWaits() const {
    ThreadTimes shared = *this;
    int64_t seenNs = 0;
    for (size_t state = 0; state < ns.size(); ++state)
        if (isWaiting(static_cast<ThreadState>(state))) seenNs += ns[state];
    if (unseenWaitNs == 0 || seenNs < unseenWaitNs) return shared;
    int64_t leftNs = unseenWaitNs;
    for (size_t state = 0; state < ns.size(); ++state) {
        if (!isWaiting(static_cast<ThreadState>(state))) continue;
        const int64_t moreNs = share(unseenWaitNs, ns[state], seenNs);
        shared.ns[state] += moreNs;
        leftNs -= moreNs;
    }
    // What rounding leaves stays unknown.
    shared.ns[static_cast<size_t>(ThreadState::Unknown)] -= unseenWaitNs - leftNs;
    shared.unseenWaitNs = leftNs;
    return shared;
}

StatesOfThreads::StatesOfThreads(const Trace& trace)
    : trace_(trace), rows_(trace.threads.size()), isCounted_(trace.threads.size()) {
    const CpuStateTable& states = trace.cpuStates;
    std::vector<int64_t> untilNs(rows_.size(), INT64_MIN);
    for (uint32_t row = 0; row < states.size(); ++row) {
        const StateSource source = states.source[row];
        if (source != StateSource::Looks && source != StateSource::Scheduler) continue;
        const uint32_t thread = states.thread[row];
        // What a file has twice counts once.
        if (states.startNs[row] < untilNs[thread]) continue;
        untilNs[thread] = states.endNs[row];
        rows_[thread].push_back(row);
        // A kernel that counts counts something of whoever launches work; the scheduler tells all.
        if (states.cpuNs[row] > 0 || states.delayNs[row] > 0 || source == StateSource::Scheduler)
            isCounted_[thread] = true;
    }
}

StatesOfThreads::Telling StatesOfThreads::tells(uint32_t row, int64_t pieceNs) const {
    const CpuStateTable& states = trace_.cpuStates;
    if (states.source[row] != StateSource::Looks) return Telling::Whole;
    if (isMixed(trace_, row)) return Telling::ByTurns;
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    if (pieceNs >= wholeNs) return Telling::Whole;
    const ThreadState state = states.state[row];
    // The only look of a row lies within its middle half, as the distances of looks vary.
    if (!isCounted_[states.thread[row]])
        return pieceNs >= wholeNs / 4 * 3 ? Telling::Whole : Telling::Nothing;
    const int64_t ranNs = states.cpuNs[row] + states.delayNs[row];
    const bool wantsCore = state == ThreadState::Running || state == ThreadState::Runnable;
    const int64_t otherNs = isWaiting(state) ? ranNs
                            : wantsCore      ? wholeNs - ranNs - countTickNs
                                             : 0;
    return otherNs > pieceNs / 10 ? Telling::ByTurns : Telling::Whole;
}

ThreadTimes StatesOfThreads::during(uint32_t thread, TimeRange range) const {
    const CpuStateTable& states = trace_.cpuStates;
    ThreadTimes times;
    std::map<uint32_t, int64_t> atStack, atHolder;
    int64_t longestNs = 0, longestHeldNs = 0;
    const auto add = [&](ThreadState state, int64_t ns) {
        times.ns[static_cast<size_t>(state)] += ns;
    };
    forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
        const int64_t pieceNs = piece.durationNs();
        const int64_t wholeNs = states.endNs[row] - states.startNs[row];
        if (pieceNs < std::min(wholeNs, sharedNs) && tells(row, pieceNs) != Telling::Whole)
            return add(ThreadState::Unknown, pieceNs);
        const ThreadState state = states.state[row];
        const int64_t cpuNs = std::min(pieceNs, share(states.cpuNs[row], pieceNs, wholeNs));
        const int64_t delayNs =
            std::min(pieceNs - cpuNs, share(states.delayNs[row], pieceNs, wholeNs));
        const int64_t restNs = pieceNs - cpuNs - delayNs;
        add(ThreadState::Running, cpuNs);
        add(ThreadState::Runnable, delayNs);
        // Who was seen to run, and neither ran nor wanted to for a part of it, waited unseen.
        add(state == ThreadState::Running ? ThreadState::Unknown : state, restNs);
        if (state == ThreadState::Running) times.unseenWaitNs += restNs;
        if (const uint32_t stack = states.stack[row]; stack != noIndex) {
            const int64_t ns = atStack[stack] += pieceNs;
            if (ns > longestNs) {
                longestNs = ns;
                times.stack = stack;
            }
        }
        if (const uint32_t holder = states.holder[row]; holder != noIndex) {
            const int64_t ns = atHolder[holder] += pieceNs;
            if (ns > longestHeldNs) {
                longestHeldNs = ns;
                times.holder = holder;
                times.holderStack = states.holderStack[row];
            }
        }
    });
    return times;
}

int64_t mostRunNs(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    int64_t ranNs = states.cpuNs[row];
    // What a scheduler tells is no estimate.
    if (states.source[row] != StateSource::Looks) return ranNs;
    ranNs += (states.endNs[row] - states.startNs[row]) / 10;
    return states.state[row] == ThreadState::Running ? ranNs + countTickNs : ranNs;
}

void ProvedWaits::add(uint32_t thread, TimeRange piece) {
    states_.forEachIn(thread, piece, [this](uint32_t row, TimeRange within) {
        int64_t& spentNs = spentNs_[row];
        spentNs = saturatingSum(spentNs, within.durationNs());
    });
}

int64_t ProvedWaits::waitedNs(uint32_t row) const {
    const auto spent = spentNs_.find(row);
    if (spent == spentNs_.end() || !isWaiting(trace_.cpuStates.state[row])) return 0;
    // Nobody looked often enough, and the kernel did not count.
    if (states_.tells(row, spent->second) == StatesOfThreads::Telling::Nothing) return 0;
    return std::max<int64_t>(
        0, spent->second - mostRunNs(trace_, row) - trace_.cpuStates.delayNs[row]);
}

int64_t ProvedWaits::outsideNs() const {
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        if (isOutside(trace_.cpuStates.state[row])) sumNs = saturatingSum(sumNs, waitedNs(row));
    return sumNs;
}

int64_t ProvedWaits::workedNs() const {
    const CpuStateTable& states = trace_.cpuStates;
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        sumNs =
            saturatingSum(sumNs, states.state[row] == ThreadState::Disk ||
                                         states.state[row] == ThreadState::Running ||
                                         states.state[row] == ThreadState::Runnable
                                     ? spentNs
                                     : std::min(spentNs, states.cpuNs[row] + states.delayNs[row]));
    return sumNs;
}

}  // namespace lanescope
