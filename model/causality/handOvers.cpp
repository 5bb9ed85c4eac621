// SPDX-License-Identifier: Apache-2.0
#include "model/causality/handOvers.h"

#include <algorithm>

#include "model/causality/implicitOrder.h"

namespace lanescope::causality {

namespace {

/// Calls per run from which threads without states are taken to alternate.
constexpr uint32_t minCallsPerRun = 8;
/// Minimum length of a time between two calls in which a thread without states may have waited.
constexpr int64_t minUnknownWaitNs = 20'000;

struct LastCall {
    uint32_t row = noIndex;
    int64_t endNs = 0;
};

/// The threads of a process while its calls are visited in order.
struct ProcessCalls {
    std::vector<uint32_t> threads;
    uint32_t calls = 0, runs = 0;
    uint32_t lastThread = noIndex;
};

}  // namespace

std::optional<bool> isMostlyWaiting(const StatesOfThreads& states, uint32_t thread, TimeRange time) {
    if (states.isEmpty(thread)) return std::nullopt;
    const ThreadTimes times = states.during(thread, time);
    const int64_t knownNs = times.knownNs() - times.of(ThreadState::Unknown);
    if (2 * knownNs < time.durationNs()) return std::nullopt;
    int64_t waitedNs = 0;
    for (const ThreadState state : {ThreadState::Gil, ThreadState::Lock, ThreadState::Poll, ThreadState::Device,
                                    ThreadState::Child, ThreadState::Blocked})
        waitedNs += times.of(state);
    return 2 * waitedNs > knownNs;
}

namespace {

struct Seen {
    bool isKnown = false, isWaiting = false;
    bool isExact = false;  ///< By the scheduler: samples are too coarse to deny a wait.
};

/// Returns the state of a thread at a time.
Seen seenAt(const Trace& trace, const StatesOfThreads& states, uint32_t thread, int64_t timeNs) {
    Seen seen;
    states.forEachIn(thread, {timeNs, timeNs + 1}, [&](uint32_t row, TimeRange) {
        const ThreadState state = trace.cpuStates.state[row];
        if (state == ThreadState::Unknown) return;
        seen = {true, isWaiting(state) && state != ThreadState::Sleep,
                trace.cpuStates.source[row] == StateSource::Scheduler};
    });
    return seen;
}

}  // namespace

std::vector<HandOver> findHandOvers(const Trace& trace, const StatesOfThreads& states, uint32_t firstCall,
                                    uint32_t endCall) {
    const ApiTable& calls = trace.apiCalls;
    std::vector<ProcessCalls> processes(trace.processes.size());
    for (uint32_t row = firstCall; row < endCall; ++row) {
        const uint32_t thread = calls.thread[row];
        ProcessCalls& process = processes[trace.threads[thread].process];
        ++process.calls;
        if (process.lastThread == thread) continue;
        ++process.runs;
        process.lastThread = thread;
        if (process.threads.size() <= maxSubjects &&
            std::ranges::find(process.threads, thread) == process.threads.end())
            process.threads.push_back(thread);
    }
    std::vector<LastCall> last(trace.threads.size());
    std::vector<HandOver> found;
    for (uint32_t row = firstCall; row < endCall; ++row) {
        const uint32_t thread = calls.thread[row];
        const ProcessCalls& process = processes[trace.threads[thread].process];
        if (process.threads.size() < 2 || process.threads.size() > maxSubjects) continue;
        const int64_t startNs = calls.startNs[row];
        const LastCall own = last[thread];
        // The other thread that called last and does not go on by itself.
        LastCall cause;
        bool areOthersDone = true;
        for (const uint32_t other : process.threads) {
            if (other == thread || last[other].row == noIndex) continue;
            if (last[other].endNs > startNs) areOthersDone = false;
            if (last[other].endNs > startNs || (own.row != noIndex && last[other].endNs <= own.endNs)) continue;
            const Seen seen = seenAt(trace, states, other, startNs);
            if (seen.isExact && !seen.isWaiting) continue;
            if (cause.row == noIndex || last[other].endNs > cause.endNs) cause = last[other];
        }
        if (cause.row != noIndex) {
            const Seen seen = seenAt(trace, states, thread, cause.endNs);
            const int64_t sinceNs = own.row == noIndex ? cause.endNs : own.endNs;
            const bool isAlternating = areOthersDone && process.runs * minCallsPerRun <= process.calls &&
                                       (own.row == noIndex || startNs - sinceNs >= minUnknownWaitNs);
            const bool isAfterWait =
                seen.isExact
                    ? seen.isWaiting
                    : isAlternating || (areOthersDone &&
                                        isMostlyWaiting(states, thread, {sinceNs, startNs}).value_or(seen.isWaiting));
            if (isAfterWait) found.push_back({row, cause.row});
        }
        const int64_t endNs = std::max(startNs, calls.endNs[row]);
        if (own.row == noIndex || endNs > own.endNs) last[thread] = {row, endNs};
    }
    return found;
}

}  // namespace lanescope::causality
