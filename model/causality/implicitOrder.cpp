// SPDX-License-Identifier: Apache-2.0
#include "model/causality/implicitOrder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/numbers/Statistics.h"
#include "model/trace/Column.h"

namespace lanescope::causality {

namespace {

struct StreamProgress {
    uint32_t correlation = 0;  ///< Greatest of its kernels so far.
    int64_t endNs = INT64_MIN;
    uint32_t chances = 0;
    bool isOverlapping = false;
};

struct QueuedLaunch {
    int64_t startNs, endNs;  ///< Times of the call.
    int64_t workEndNs;
};

constexpr int64_t minLongCallNs = 30'000;
constexpr size_t minQueue = 128, maxQueue = 4096, minLongCalls = 16, maxLongCalls = 2'000;

/// Returns the number of places in a queue, by the launches of a process.
uint32_t placesOf(const std::vector<QueuedLaunch>& launches) {
    std::vector<uint32_t> waiting;
    for (size_t index = 0; index < launches.size() && waiting.size() < maxLongCalls; ++index) {
        if (launches[index].endNs < launches[index].startNs + minLongCallNs) continue;
        size_t before = index;
        while (before > 0 && index - before < maxQueue && launches[before - 1].workEndNs > launches[index].endNs)
            --before;
        if (index - before >= minQueue) waiting.push_back(static_cast<uint32_t>(index - before));
    }
    if (waiting.size() < minLongCalls) return 0;
    const uint32_t places = upperMedianOf(waiting);
    const auto near = std::ranges::count_if(
        waiting, [places](uint32_t each) { return each * 20 >= places * 19 && each * 20 <= places * 21; });
    return static_cast<size_t>(near) * 5 >= waiting.size() * 4 ? places + 1 : 0;
}

/// Threads without known states alternate if their runs of consecutive calls have at least this mean length.
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

std::vector<bool> streamsOrderedWithDefault(const Trace& trace, const LaunchRows& launches, TimeRange window) {
    std::vector<StreamProgress> streams(trace.streams.size());
    std::map<std::pair<uint32_t, int64_t>, std::vector<uint32_t>> ofContext;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream)
        ofContext[{trace.streams[stream].process, trace.streams[stream].contextId}].push_back(stream);
    std::vector<const std::vector<uint32_t>*> others(streams.size());
    for (const auto& [context, all] : ofContext)
        for (const uint32_t stream : all) others[stream] = all.size() <= maxSubjects ? &all : nullptr;
    const KernelTable& kernels = trace.kernels;
    ColumnReader starts(kernels.startNs), ends(kernels.endNs);
    ColumnReader ofStream(kernels.stream), correlations(kernels.correlation);
    const auto first = std::ranges::lower_bound(kernels.startNs, window.startNs);
    for (auto row = static_cast<uint32_t>(first - kernels.startNs.begin());
         row < kernels.size() && starts[row] < window.endNs; ++row) {
        const uint32_t stream = ofStream[row], correlation = correlations[row];
        const Stream& own = trace.streams[stream];
        const uint32_t call = launches.ofKernel[row];
        if (others[stream] == nullptr) continue;
        for (const uint32_t other : *others[stream]) {
            if (trace.streams[other].isNullStream == own.isNullStream || streams[other].correlation == 0) continue;
            StreamProgress& pair = streams[own.isNullStream ? other : stream];
            if (streams[other].correlation > correlation || streams[other].endNs > starts[row])
                pair.isOverlapping = true;
            if (call != noIndex && streams[other].endNs > trace.apiCalls.endNs[call]) ++pair.chances;
        }
        streams[stream].correlation = std::max(streams[stream].correlation, correlation);
        streams[stream].endNs = std::max(streams[stream].endNs, ends[row]);
    }
    std::vector<bool> isOrdered(streams.size());
    for (const auto& [context, all] : ofContext) {
        // A stream with too few chances is like the others.
        const auto isOf = [&](uint32_t stream) {
            return !trace.streams[stream].isNullStream && !streams[stream].isOverlapping;
        };
        if (std::ranges::none_of(all, [&](uint32_t each) { return isOf(each) && streams[each].chances >= minChances; }))
            continue;
        for (const uint32_t stream : all) isOrdered[stream] = trace.streams[stream].isNullStream || isOf(stream);
    }
    return isOrdered;
}

std::vector<uint32_t> queueLimits(const Trace& trace, const LaunchRows& launches, uint32_t firstCall,
                                  uint32_t endCall) {
    std::vector<int64_t> workEndNs(endCall - firstCall, INT64_MIN);
    const auto addEnds = [&](const LargeVector<uint32_t>& calls, const Column<int64_t>& column) {
        ColumnReader ends(column);
        for (uint32_t row = 0; row < calls.size(); ++row)
            if (calls[row] >= firstCall && calls[row] < endCall)
                workEndNs[calls[row] - firstCall] = std::max(workEndNs[calls[row] - firstCall], ends[row]);
    };
    addEnds(launches.ofKernel, trace.kernels.endNs);
    addEnds(launches.ofMemcpy, trace.memcpys.endNs);
    addEnds(launches.ofMemset, trace.memsets.endNs);
    addEnds(launches.ofGraph, trace.graphs.endNs);
    std::vector<std::vector<QueuedLaunch>> ofProcess(trace.processes.size());
    for (uint32_t row = firstCall; row < endCall; ++row)
        if (workEndNs[row - firstCall] != INT64_MIN)
            ofProcess[trace.threads[trace.apiCalls.thread[row]].process].push_back(
                {trace.apiCalls.startNs[row], trace.apiCalls.endNs[row], workEndNs[row - firstCall]});
    std::vector<uint32_t> places;
    for (const std::vector<QueuedLaunch>& each : ofProcess) places.push_back(placesOf(each));
    return places;
}

bool isWaitingForOthers(ThreadState state) {
    return isWaiting(state) && state != ThreadState::Sleep && state != ThreadState::Disk;
}

std::optional<bool> isMostlyWaiting(const StatesOfThreads& states, uint32_t thread, TimeRange time) {
    if (states.isEmpty(thread)) return std::nullopt;
    const ThreadTimes times = states.during(thread, time);
    const int64_t knownNs = times.knownNs() - times.of(ThreadState::Unknown);
    if (2 * knownNs < time.durationNs()) return std::nullopt;
    int64_t waitedNs = 0;
    for (size_t each = 0; each < threadStateCount; ++each)
        if (const auto state = static_cast<ThreadState>(each); isWaitingForOthers(state)) waitedNs += times.of(state);
    return 2 * waitedNs > knownNs;
}

double ranShareBetweenCalls(const Trace& trace, uint32_t row) {
    const CpuStateTable& states = trace.cpuStates;
    const ApiTable& calls = trace.apiCalls;
    const TimeRange time{states.startNs[row], states.endNs[row]};
    ColumnReader starts(calls.startNs), ends(calls.endNs);
    ColumnReader threads(calls.thread);
    int64_t callsNs = 0, untilNs = time.startNs;
    const auto first = std::ranges::lower_bound(calls.startNs, time.startNs);
    for (auto call = static_cast<uint32_t>(first - calls.startNs.begin());
         call < calls.size() && starts[call] < time.endNs; ++call) {
        if (threads[call] != states.thread[row]) continue;
        const int64_t endNs = std::min(ends[call], time.endNs);
        callsNs += std::max<int64_t>(0, endNs - std::max(starts[call], untilNs));
        untilNs = std::max(untilNs, endNs);
    }
    const auto betweenNs = static_cast<double>(time.durationNs() - callsNs);
    const double ranNs = static_cast<double>(states.cpuNs[row]) + static_cast<double>(states.delayNs[row]);
    return betweenNs > 0 ? std::clamp((ranNs - static_cast<double>(callsNs)) / betweenNs, 0.0, 1.0) : 0;
}

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
