// SPDX-License-Identifier: Apache-2.0
#include "model/trace/ThreadTimes.h"

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

/// Threshold in ns: a piece at least this long gets its share of the kernel's count as a good approximation.
constexpr int64_t shareThresholdNs = 1'000'000'000;

/// Returns the part of `ns` for a piece of a whole.
int64_t share(int64_t ns, int64_t pieceNs, int64_t wholeNs) {
    if (pieceNs >= wholeNs) return ns;
    return static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(pieceNs) / static_cast<double>(wholeNs));
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
    // Rounding remainders stay unknown.
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
        if (source != StateSource::StateSamples && source != StateSource::Scheduler) continue;
        const uint32_t thread = states.thread[row];
        // Duplicate rows of a file count once.
        if (states.startNs[row] < untilNs[thread]) continue;
        untilNs[thread] = states.endNs[row];
        rows_[thread].push_back(row);
        // If the kernel counts, every thread that launches work has some time. The scheduler reports everything.
        if (states.cpuNs[row] > 0 || states.delayNs[row] > 0 || source == StateSource::Scheduler)
            isCounted_[thread] = true;
    }
}

StatesOfThreads::StatePrecision StatesOfThreads::tells(uint32_t row, int64_t pieceNs) const {
    const CpuStateTable& states = trace_.cpuStates;
    if (states.source[row] != StateSource::StateSamples) return StatePrecision::Whole;
    if (isMixed(trace_, row)) return StatePrecision::Alternating;
    const int64_t wholeNs = states.endNs[row] - states.startNs[row];
    if (pieceNs >= wholeNs) return StatePrecision::Whole;
    const ThreadState state = states.state[row];
    // The only sample of a row is within its middle half, because sampling intervals vary.
    if (!isCounted_[states.thread[row]])
        return pieceNs >= wholeNs / 4 * 3 ? StatePrecision::Whole : StatePrecision::Nothing;
    const int64_t ranNs = states.cpuNs[row] + states.delayNs[row];
    const bool wantsCore = state == ThreadState::Running || state == ThreadState::Runnable;
    const int64_t otherNs = isWaiting(state) ? ranNs : wantsCore ? wholeNs - ranNs - maxTickNs : 0;
    return otherNs > pieceNs / 10 ? StatePrecision::Alternating : StatePrecision::Whole;
}

ThreadTimes StatesOfThreads::during(uint32_t thread, TimeRange range) const {
    const CpuStateTable& states = trace_.cpuStates;
    ThreadTimes times;
    std::map<uint32_t, int64_t> atStack, atHolder;
    int64_t maxNs = 0, maxHeldNs = 0;
    const auto add = [&](ThreadState state, int64_t ns) { times.ns[static_cast<size_t>(state)] += ns; };
    forEachIn(thread, range, [&](uint32_t row, TimeRange piece) {
        const int64_t pieceNs = piece.durationNs();
        const int64_t wholeNs = states.endNs[row] - states.startNs[row];
        if (pieceNs < std::min(wholeNs, shareThresholdNs) && tells(row, pieceNs) != StatePrecision::Whole)
            return add(ThreadState::Unknown, pieceNs);
        const ThreadState state = states.state[row];
        const int64_t cpuNs = std::min(pieceNs, share(states.cpuNs[row], pieceNs, wholeNs));
        const int64_t delayNs = std::min(pieceNs - cpuNs, share(states.delayNs[row], pieceNs, wholeNs));
        const int64_t restNs = pieceNs - cpuNs - delayNs;
        add(ThreadState::Running, cpuNs);
        add(ThreadState::Runnable, delayNs);
        // A thread sampled as running that neither ran nor was runnable for a part of the time waited between samples.
        add(state == ThreadState::Running ? ThreadState::Unknown : state, restNs);
        if (state == ThreadState::Running) times.unseenWaitNs += restNs;
        if (const uint32_t stack = states.stack[row]; stack != noIndex) {
            const int64_t ns = atStack[stack] += pieceNs;
            if (ns > maxNs) {
                maxNs = ns;
                times.stack = stack;
            }
        }
        if (const uint32_t holder = states.holder[row]; holder != noIndex) {
            const int64_t ns = atHolder[holder] += pieceNs;
            if (ns > maxHeldNs) {
                maxHeldNs = ns;
                times.holder = holder;
                times.holderStack = states.holderStack[row];
            }
        }
    });
    return times;
}

int64_t maxRunNs(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    int64_t ranNs = states.cpuNs[row];
    // Scheduler records are exact.
    if (states.source[row] != StateSource::StateSamples) return ranNs;
    ranNs += (states.endNs[row] - states.startNs[row]) / 10;
    return states.state[row] == ThreadState::Running ? ranNs + maxTickNs : ranNs;
}

void ProvenWaits::add(uint32_t thread, TimeRange piece) {
    states_.forEachIn(thread, piece, [this](uint32_t row, TimeRange within) {
        int64_t& spentNs = spentNs_[row];
        spentNs = saturatingSum(spentNs, within.durationNs());
    });
}

int64_t ProvenWaits::waitedNs(uint32_t row) const {
    const auto spent = spentNs_.find(row);
    if (spent == spentNs_.end() || !isWaiting(trace_.cpuStates.state[row])) return 0;
    // Too few samples, and no counts of the kernel.
    if (states_.tells(row, spent->second) == StatesOfThreads::StatePrecision::Nothing) return 0;
    return std::max<int64_t>(0, spent->second - maxRunNs(trace_, row) - trace_.cpuStates.delayNs[row]);
}

int64_t ProvenWaits::outsideNs() const {
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        if (isOutside(trace_.cpuStates.state[row])) sumNs = saturatingSum(sumNs, waitedNs(row));
    return sumNs;
}

int64_t ProvenWaits::workedNs() const {
    const CpuStateTable& states = trace_.cpuStates;
    int64_t sumNs = 0;
    for (const auto& [row, spentNs] : spentNs_)
        sumNs =
            saturatingSum(sumNs, states.state[row] == ThreadState::Disk || states.state[row] == ThreadState::Running ||
                                         states.state[row] == ThreadState::Runnable
                                     ? spentNs
                                     : std::min(spentNs, states.cpuNs[row] + states.delayNs[row]));
    return sumNs;
}

}  // namespace lanescope
