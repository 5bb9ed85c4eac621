// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "model/assemble/buildTracks.h"
#include "model/trace/Trace.h"
#include "model/trace/gpuNames.h"
#include "model/trace/processes.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// Number of threads per process that are unfolded at first.
constexpr size_t unfoldedThreads = 2;

void addDomainTrack(Trace& trace, uint32_t thread, int32_t parent, DomainLanes& work) {
    const std::string_view domain = trace.strings.at(work.domain);
    std::string title = "NVTX";
    if (isProfilerDomain(domain))
        title = domain;
    else if (work.domain != 0)
        title += fmt::format(": {}", domain);
    const uint32_t track = addTrack(trace, TrackKind::ThreadNvtx, thread, parent, std::move(title));
    trace.tracks[track].lanes = std::move(work.lanes);
    noteDropped(trace, track, work.droppedCount);
}

void addStateTracks(Trace& trace, uint32_t thread, int32_t parent, StateLanes& work) {
    if (!work.states.empty()) {
        const uint32_t track = addTrack(trace, TrackKind::ThreadStates, thread, parent, "State");
        trace.tracks[track].lanes = std::move(work.states);
        noteDropped(trace, track, work.droppedCalls);
    }
    if (!work.stacks.empty()) {
        const uint32_t track = addTrack(trace, TrackKind::ThreadStacks, thread, parent, "Stack");
        trace.tracks[track].lanes = std::move(work.stacks);
        trace.tracks[track].isInitiallyFolded = true;
        noteDropped(trace, track, work.droppedFrames);
    }
}

void addThreadTracks(Trace& trace, uint32_t thread, int32_t parent, bool isFolded, std::string_view callsTitle,
                     ThreadLanes& work) {
    const Thread& info = trace.threads[thread];
    const std::string number = fmt::format("TID {}", info.tid);
    const uint32_t threadTrack = addTrack(trace, TrackKind::Thread, thread, parent,
                                          info.name.empty() ? fmt::format("Thread {}", info.tid) : info.name,
                                          info.name.empty() ? std::string() : number);
    trace.tracks[threadTrack].isInitiallyFolded = isFolded;
    const auto own = static_cast<int32_t>(threadTrack);

    for (DomainLanes& domain : work.domains) addDomainTrack(trace, thread, own, domain);
    if (!work.calls.empty()) {
        const uint32_t track = addTrack(trace, TrackKind::ThreadApi, thread, own, std::string(callsTitle));
        trace.tracks[track].lanes = std::move(work.calls);
        noteDropped(trace, track, work.droppedCalls);
    }
    if (work.states.hasValue()) addStateTracks(trace, thread, own, work.states.edit());
    trace.tracks[threadTrack].lanes = std::move(work.busy);
}

/// Returns the processes by their rank, the main process of a rank first. Processes without a rank
/// follow in the order of the file.
std::vector<uint32_t> orderedProcesses(const Trace& trace, const std::vector<std::optional<int>>& ranks) {
    std::vector<uint32_t> order(trace.processes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        if (ranks[a] != ranks[b]) return ranks[a] && (!ranks[b] || *ranks[a] < *ranks[b]);
        return trace.processes[a].rank.has_value() && !trace.processes[b].rank.has_value();
    });
    return order;
}

/// Sorts by activity, the busiest first. The main thread leads unless it is almost idle.
void sortThreads(const Trace& trace, const std::vector<ThreadLanes>& work, std::vector<uint32_t>& threads) {
    constexpr uint64_t littleOf = 50;
    uint64_t maxCount = 0;
    for (const uint32_t thread : threads) maxCount = std::max(maxCount, work[thread].count);
    const auto place = [&](uint32_t thread) {
        const Thread& info = trace.threads[thread];
        const uint64_t count = work[thread].count;
        const bool isMain = info.tid == trace.processes[info.process].pid;
        return std::pair(isMain && count * littleOf >= maxCount, count);
    };
    std::stable_sort(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) { return place(a) > place(b); });
}

std::string subtitleOf(const Process& process, std::optional<int> rank) {
    std::string text = processSubtitle(process);
    if (rank && !process.rank) text += fmt::format(", of rank {}", *rank);
    return text;
}

}  // namespace

void addProcessTracks(Trace& trace, const TrackSources& sources, std::vector<ThreadLanes> work, StringIndex busy,
                      const std::stop_token& stop) {
    std::vector<std::vector<uint32_t>> threadsOf(trace.processes.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (work[thread].count > 0 || work[thread].states->isWorthShowing)
            threadsOf[trace.threads[thread].process].push_back(thread);
    const std::string callsTitle = fmt::format("{} API", name(trace.gpuApi));
    const std::vector<std::optional<int>> ranks = ranksServed(trace);
    for (const uint32_t process : orderedProcesses(trace, ranks)) {
        std::vector<uint32_t>& threads = threadsOf[process];
        if (threads.empty() && !sources.hasAny({.process = process})) continue;
        sortThreads(trace, work, threads);
        const Process& info = trace.processes[process];
        const uint32_t processTrack =
            addTrack(trace, TrackKind::Process, process, -1,
                     info.name.empty() ? fmt::format("Process {}", info.pid) : std::string(programName(info)),
                     subtitleOf(info, ranks[process]));
        std::vector<size_t> threadTracks;
        for (size_t i = 0; i < threads.size(); ++i) {
            threadTracks.push_back(trace.tracks.size());
            addThreadTracks(trace, threads[i], static_cast<int32_t>(processTrack), i >= unfoldedThreads, callsTitle,
                            work[threads[i]]);
        }
        addEventTracks(trace, sources, {.process = process}, processTrack);
        addCounterTracks(trace, sources, {.process = process}, processTrack);
        std::vector<const Lane*> summaries;
        for (const size_t track : threadTracks) summaries.push_back(&trace.tracks[track].lanes.front());
        trace.tracks[processTrack].lanes.push_back(unionOf(summaries, busy, SliceCategory::Busy, stop));
    }
}

}  // namespace lanescope
