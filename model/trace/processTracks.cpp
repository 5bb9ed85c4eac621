#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "model/trace/TrackBuilding.h"
#include "model/trace/categories.h"

namespace lanescope {

namespace {

/// Threads of a process that are shown unfolded at first; the others have little to say.
constexpr size_t unfoldedThreads = 2;

/// The ranges of one NVTX domain on one thread. Ranges started and ended by handle may overlap in
/// any way, so they get lanes of their own below the nested ones.
struct DomainLanes {
    LaneBuilder nested{Packing::Nested};
    LaneBuilder loose{Packing::Compact};
    uint32_t count = 0;
};

/// What a thread did, before it becomes tracks.
struct ThreadWork {
    LaneBuilder calls{Packing::Nested};
    std::map<StringIndex, DomainLanes> domains;
    uint64_t count = 0;
};

void collectCalls(const Trace& trace, std::vector<ThreadWork>& threads) {
    std::vector<SliceCategory> category(trace.strings.size());
    std::vector<bool> isKnown(trace.strings.size());
    const ApiTable& calls = trace.apiCalls;
    for (uint32_t row = 0; row < calls.size(); ++row) {
        const StringIndex name = calls.name[row];
        if (!isKnown[name]) {
            category[name] = apiCategory(trace.strings.at(name));
            isKnown[name] = true;
        }
        ThreadWork& thread = threads[calls.thread[row]];
        thread.calls.add(calls.startNs[row], calls.endNs[row], name, EventRef(EventKind::Api, row),
                         category[name]);
        ++thread.count;
    }
}

void collectRanges(const Trace& trace, std::vector<ThreadWork>& threads) {
    const NvtxTable& nvtx = trace.nvtx;
    std::vector<bool> isNccl(nvtx.size());
    for (const uint32_t row : trace.nccl.nvtx) isNccl[row] = true;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        ThreadWork& thread = threads[nvtx.thread[row]];
        DomainLanes& domain = thread.domains[nvtx.domain[row]];
        LaneBuilder& builder =
            nvtx.style[row] == NvtxStyle::StartEnd ? domain.loose : domain.nested;
        builder.add(nvtx.startNs[row], nvtx.endNs[row], nvtx.text[row],
                    EventRef(EventKind::Nvtx, row),
                    isNccl[row] ? SliceCategory::NcclCall : SliceCategory::Nvtx);
        ++domain.count;
        ++thread.count;
    }
}

/// When the thread was in the CUDA API; when in an outermost NVTX range, if it made no calls.
Lane summaryOf(const std::vector<Lane>& lanes, StringIndex name) {
    std::vector<const Lane*> all;
    for (const Lane& lane : lanes) all.push_back(&lane);
    return unionOf(all, name);
}

void addDomainTrack(Trace& trace, uint32_t thread, int32_t parent, StringIndex domain,
                    DomainLanes& work) {
    std::string title = "NVTX";
    if (domain != 0) title += fmt::format(": {}", trace.strings.at(domain));
    const uint32_t track = addTrack(trace, TrackKind::ThreadNvtx, thread, parent, std::move(title));
    std::vector<Lane> lanes = work.nested.build();
    for (Lane& lane : work.loose.build()) lanes.push_back(std::move(lane));
    trace.tracks[track].lanes = std::move(lanes);
    noteDropped(trace, track, work.nested.droppedCount() + work.loose.droppedCount());
}

void addThreadTracks(Trace& trace, uint32_t thread, int32_t parent, bool isFolded, StringIndex busy,
                     ThreadWork& work) {
    const Thread& info = trace.threads[thread];
    const std::string number = fmt::format("TID {}", info.tid);
    const uint32_t threadTrack =
        addTrack(trace, TrackKind::Thread, thread, parent,
                 info.name.empty() ? fmt::format("Thread {}", info.tid) : info.name,
                 info.name.empty() ? std::string() : number);
    trace.tracks[threadTrack].isInitiallyFolded = isFolded;
    const auto own = static_cast<int32_t>(threadTrack);

    std::vector<StringIndex> domains;
    for (const auto& [domain, lanes] : work.domains) domains.push_back(domain);
    std::stable_sort(domains.begin(), domains.end(), [&work](StringIndex a, StringIndex b) {
        if ((a == 0) != (b == 0)) return a == 0;
        return work.domains[a].count > work.domains[b].count;
    });
    for (const StringIndex domain : domains)
        addDomainTrack(trace, thread, own, domain, work.domains[domain]);
    if (!work.calls.isEmpty()) {
        const uint32_t track = addTrack(trace, TrackKind::ThreadApi, thread, own, "CUDA API");
        trace.tracks[track].lanes = work.calls.build();
        noteDropped(trace, track, work.calls.droppedCount());
    }
    trace.tracks[threadTrack].lanes.push_back(summaryOf(trace.tracks.back().lanes, busy));
}

/// Processes by rank, those without one after them as the file lists them.
std::vector<uint32_t> orderedProcesses(const Trace& trace) {
    std::vector<uint32_t> order(trace.processes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&trace](uint32_t a, uint32_t b) {
        const auto& first = trace.processes[a].rank;
        const auto& second = trace.processes[b].rank;
        if (first && second) return *first < *second;
        return first.has_value() && !second.has_value();
    });
    return order;
}

}  // namespace

void addProcessTracks(Trace& trace) {
    std::vector<ThreadWork> work(trace.threads.size());
    collectCalls(trace, work);
    collectRanges(trace, work);
    const StringIndex busy = trace.strings.intern("Busy");

    std::vector<std::vector<uint32_t>> threadsOf(trace.processes.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
        if (work[thread].count > 0) threadsOf[trace.threads[thread].process].push_back(thread);
    for (const uint32_t process : orderedProcesses(trace)) {
        std::vector<uint32_t>& threads = threadsOf[process];
        if (threads.empty() && !processHasOtherTracks(trace, process)) continue;
        std::stable_sort(threads.begin(), threads.end(),
                         [&work](uint32_t a, uint32_t b) { return work[a].count > work[b].count; });
        const Process& info = trace.processes[process];
        const uint32_t processTrack =
            addTrack(trace, TrackKind::Process, process, -1,
                     info.name.empty() ? fmt::format("Process {}", info.pid) : info.name,
                     processSubtitle(info));
        addCounterTracks(trace, noIndex, process, processTrack);
        addCpuFaultTrack(trace, process, processTrack);
        std::vector<size_t> threadTracks;
        for (size_t i = 0; i < threads.size(); ++i) {
            threadTracks.push_back(trace.tracks.size());
            addThreadTracks(trace, threads[i], static_cast<int32_t>(processTrack),
                            i >= unfoldedThreads, busy, work[threads[i]]);
        }
        std::vector<const Lane*> summaries;
        for (const size_t track : threadTracks)
            summaries.push_back(&trace.tracks[track].lanes.front());
        trace.tracks[processTrack].lanes.push_back(unionOf(summaries, busy));
    }
}

}  // namespace lanescope
