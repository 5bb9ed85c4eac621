#include "model/trace/Trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/formatValue.h"
#include "model/trace/counterPairs.h"

namespace lanescope {

namespace {

template <class Table>
TimeRange rowRange(const Table& table, uint32_t row) {
    return row < table.size() ? TimeRange{table.startNs[row], table.endNs[row]} : TimeRange{};
}

/// The kind of track an event is drawn on, and which one of that kind.
struct Place {
    TrackKind kind = TrackKind::Process;
    uint32_t subject = noIndex;
};

Place placeOf(const Trace& trace, EventRef event) {
    const uint32_t row = event.row();
    switch (event.kind()) {
        case EventKind::Kernel:
            return {TrackKind::Stream, trace.kernels.stream[row]};
        case EventKind::Memcpy:
            return {TrackKind::Stream, trace.memcpys.stream[row]};
        case EventKind::Memset:
            return {TrackKind::Stream, trace.memsets.stream[row]};
        case EventKind::Graph:
            return {TrackKind::Stream, trace.graphs.stream[row]};
        case EventKind::PageFault:
            if (trace.pageFaults.gpu[row] == noIndex)
                return {TrackKind::CpuPageFaults, trace.pageFaults.process[row]};
            return {TrackKind::GpuPageFaults, trace.pageFaults.gpu[row]};
        case EventKind::Api:
            return {TrackKind::ThreadApi, trace.apiCalls.thread[row]};
        case EventKind::Nvtx:
            return {TrackKind::ThreadNvtx, trace.nvtx.thread[row]};
        case EventKind::Projection:
            return {TrackKind::StreamProjection, trace.projections.stream[row]};
        case EventKind::CounterSample:
            return {TrackKind::Counter, trace.samplePlace(event).counter};
        case EventKind::Sync:
        case EventKind::None:
            break;
    }
    return {};
}

std::string_view syncName(SyncType type) {
    switch (type) {
        case SyncType::Event:
            return "Wait for event";
        case SyncType::StreamWaitEvent:
            return "Stream waits for event";
        case SyncType::Stream:
            return "Wait for stream";
        case SyncType::Context:
            return "Wait for context";
        case SyncType::Unknown:
            break;
    }
    return "Wait";
}

/// Empty if unknown, as it is for the CPU.
std::string_view accessName(FaultAccess access) {
    switch (access) {
        case FaultAccess::Read:
            return "read";
        case FaultAccess::Write:
            return "write";
        case FaultAccess::Atomic:
            return "atomic";
        case FaultAccess::Prefetch:
            return "prefetch";
        case FaultAccess::Unknown:
            break;
    }
    return "";
}

}  // namespace

uint32_t Trace::rowCount(EventKind kind) const {
    switch (kind) {
        case EventKind::Kernel:
            return kernels.size();
        case EventKind::Memcpy:
            return memcpys.size();
        case EventKind::Memset:
            return memsets.size();
        case EventKind::Api:
            return apiCalls.size();
        case EventKind::Sync:
            return syncs.size();
        case EventKind::Nvtx:
            return nvtx.size();
        case EventKind::Projection:
            return projections.size();
        case EventKind::Graph:
            return graphs.size();
        case EventKind::PageFault:
            return pageFaults.size();
        case EventKind::CounterSample:
            return counters.empty() || counterRows.size() != counters.size()
                       ? 0
                       : counterRows.back() + counters.back().size();
        case EventKind::None:
            break;
    }
    return 0;
}

TimeRange Trace::rangeOf(EventRef event) const {
    switch (event.kind()) {
        case EventKind::Kernel:
            return rowRange(kernels, event.row());
        case EventKind::Memcpy:
            return rowRange(memcpys, event.row());
        case EventKind::Memset:
            return rowRange(memsets, event.row());
        case EventKind::Api:
            return rowRange(apiCalls, event.row());
        case EventKind::Sync:
            return rowRange(syncs, event.row());
        case EventKind::Nvtx:
            return rowRange(nvtx, event.row());
        case EventKind::Projection:
            return rowRange(projections, event.row());
        case EventKind::Graph:
            return rowRange(graphs, event.row());
        case EventKind::PageFault:
            return rowRange(pageFaults, event.row());
        case EventKind::CounterSample:
            if (const SamplePlace place = samplePlace(event); place.counter != noIndex)
                return counters[place.counter].rangeOf(place.sample);
            break;
        case EventKind::None:
            break;
    }
    return {};
}

std::string Trace::nameOf(EventRef event) const {
    const uint32_t row = event.row();
    if (row >= rowCount(event.kind())) return {};
    switch (event.kind()) {
        case EventKind::Kernel: {
            const LaunchConfig& config = launchConfigs[kernels.config[row]];
            return std::string(
                strings.at(config.shortName != 0 ? config.shortName : config.demangledName));
        }
        case EventKind::Memcpy:
            return fmt::format("{} {}", name(memcpys.kind[row]), formatBytes(memcpys.bytes[row]));
        case EventKind::Memset:
            return fmt::format("Memset {}", formatBytes(memsets.bytes[row]));
        case EventKind::Api:
            return std::string(strings.at(apiCalls.name[row]));
        case EventKind::Sync:
            return std::string(syncName(syncs.type[row]));
        case EventKind::Nvtx:
            return std::string(strings.at(nvtx.text[row]));
        case EventKind::Projection:
            return std::string(strings.at(nvtx.text[projections.nvtx[row]]));
        case EventKind::Graph:
            return fmt::format("CUDA graph {}", graphs.graph[row]);
        case EventKind::PageFault:
            return fmt::format("{} page fault{}{}", pageFaults.gpu[row] == noIndex ? "CPU" : "GPU",
                               accessName(pageFaults.access[row]).empty() ? "" : ", ",
                               accessName(pageFaults.access[row]));
        case EventKind::CounterSample: {
            const SamplePlace place = samplePlace(event);
            const CounterSeries& series = counters[place.counter];
            return fmt::format("{}: {}", series.name,
                               formatCounter(series.value(place.sample), series.unit));
        }
        case EventKind::None:
            break;
    }
    return {};
}

EventRef Trace::launchingCall(EventRef gpuWork) const {
    if (gpuWork.row() >= rowCount(gpuWork.kind())) return {};
    uint32_t process = 0;
    uint32_t correlation = 0;
    const auto lookFor = [&](const auto& table) {
        process = streams[table.stream[gpuWork.row()]].process;
        correlation = table.correlation[gpuWork.row()];
    };
    switch (gpuWork.kind()) {
        case EventKind::Kernel:
            lookFor(kernels);
            break;
        case EventKind::Memcpy:
            lookFor(memcpys);
            break;
        case EventKind::Memset:
            lookFor(memsets);
            break;
        case EventKind::Graph:
            lookFor(graphs);
            break;
        default:
            return {};
    }
    return correlation != 0 ? callOf(*this, process, correlation) : EventRef();
}

std::vector<EventRef> Trace::launchedWork(EventRef apiCall) const {
    std::vector<EventRef> work;
    if (apiCall.kind() != EventKind::Api || apiCall.row() >= apiCalls.size()) return work;
    const uint32_t correlation = apiCalls.correlation[apiCall.row()];
    if (correlation == 0) return work;
    work = workOf(*this, threads[apiCalls.thread[apiCall.row()]].process, correlation);
    std::stable_sort(work.begin(), work.end(), [this](EventRef a, EventRef b) {
        return rangeOf(a).startNs < rangeOf(b).startNs;
    });
    return work;
}

Trace::SamplePlace Trace::samplePlace(EventRef event) const {
    if (event.kind() != EventKind::CounterSample || counterRows.empty()) return {};
    const auto after = std::upper_bound(counterRows.begin(), counterRows.end(), event.row());
    const auto counter = static_cast<uint32_t>(after - counterRows.begin()) - 1;
    const uint32_t sample = event.row() - counterRows[counter];
    if (sample >= counters[counter].size()) return {};
    return {counter, sample};
}

EventRef Trace::sampleEvent(uint32_t counter, uint32_t sample) const {
    return {EventKind::CounterSample, counterRows[counter] + sample};
}

namespace {

/// The first slice of a track of states that stands for the sample or holds where it began: a state
/// lasts over samples that say the same.
SliceLocation locateState(const Track& track, uint32_t index, EventRef event, int64_t startNs) {
    for (uint32_t laneIndex = 0; laneIndex < track.lanes.size(); ++laneIndex) {
        const Lane& lane = track.lanes[laneIndex];
        const auto after = std::upper_bound(lane.startNs.begin(), lane.startNs.end(), startNs);
        const auto slice = static_cast<uint32_t>(after - lane.startNs.begin()) - 1;
        if (after == lane.startNs.begin()) continue;
        if (lane.event[slice] == event || lane.endNs(slice) > startNs)
            return {index, laneIndex, slice};
    }
    return {};
}

}  // namespace

SliceLocation Trace::locate(EventRef event) const {
    if (event.row() >= rowCount(event.kind())) return {};
    const Place place = placeOf(*this, event);
    if (place.subject == noIndex) return {};
    if (place.kind == TrackKind::Counter) {
        const uint32_t upper = counterPairs(counters).upperOf[place.subject];
        for (uint32_t track = 0; track < tracks.size(); ++track) {
            if (upper != noIndex && tracks[track].subject == upper &&
                tracks[track].kind == place.kind)
                return {track, 1, samplePlace(event).sample};
            if (tracks[track].subject != place.subject) continue;
            if (tracks[track].kind == place.kind) return {track, 0, samplePlace(event).sample};
            if (tracks[track].kind == TrackKind::CounterStates)
                return locateState(tracks[track], track, event, rangeOf(event).startNs);
        }
        return {};
    }
    const int64_t startNs = rangeOf(event).startNs;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
        if (tracks[track].kind != place.kind || tracks[track].subject != place.subject) continue;
        for (uint32_t laneIndex = 0; laneIndex < tracks[track].lanes.size(); ++laneIndex) {
            const Lane& lane = tracks[track].lanes[laneIndex];
            const auto first = std::lower_bound(lane.startNs.begin(), lane.startNs.end(), startNs);
            for (auto slice = static_cast<uint32_t>(first - lane.startNs.begin());
                 slice < lane.size() && lane.startNs[slice] == startNs; ++slice)
                if (lane.event[slice] == event) return {track, laneIndex, slice};
        }
    }
    return {};
}

}  // namespace lanescope
