#include <fmt/format.h>

#include <algorithm>

#include "model/build/TrackBuilding.h"

namespace lanescope {

namespace {

bool isOf(const CounterSeries& series, uint32_t gpu, uint32_t process) {
    return gpu != noIndex ? series.gpu == gpu : series.gpu == noIndex && series.process == process;
}

/// The faults for which `belongs(row)`.
template <class Belongs>
void addFaultTrack(Trace& trace, TrackKind kind, uint32_t subject, uint32_t parent,
                   Belongs belongs) {
    LaneBuilder builder;
    const PageFaultTable& faults = trace.pageFaults;
    for (uint32_t row = 0; row < faults.size(); ++row) {
        if (!belongs(row)) continue;
        const EventRef event(EventKind::PageFault, row);
        builder.add(faults.startNs[row], faults.endNs[row],
                    trace.strings.intern(trace.nameOf(event)), event, SliceCategory::PageFault);
    }
    if (builder.isEmpty()) return;
    const uint32_t track = addTrack(trace, kind, subject, static_cast<int32_t>(parent),
                                    "Page faults", "managed memory");
    trace.tracks[track].lanes = builder.build();
    noteDropped(trace, track, builder.droppedCount());
}

}  // namespace

void addGpuFaultTrack(Trace& trace, uint32_t gpu, uint32_t parent) {
    addFaultTrack(trace, TrackKind::GpuPageFaults, gpu, parent,
                  [&](uint32_t row) { return trace.pageFaults.gpu[row] == gpu; });
}

void addCpuFaultTrack(Trace& trace, uint32_t process, uint32_t parent) {
    const PageFaultTable& faults = trace.pageFaults;
    addFaultTrack(trace, TrackKind::CpuPageFaults, process, parent, [&](uint32_t row) {
        return faults.gpu[row] == noIndex && faults.process[row] == process;
    });
}

bool gpuHasOtherTracks(const Trace& trace, uint32_t gpu) {
    const Column<uint32_t>& faults = trace.pageFaults.gpu;
    return std::find(faults.begin(), faults.end(), gpu) != faults.end() ||
           std::any_of(trace.counters.begin(), trace.counters.end(),
                       [&](const CounterSeries& series) { return isOf(series, gpu, noIndex); });
}

bool processHasOtherTracks(const Trace& trace, uint32_t process) {
    const PageFaultTable& faults = trace.pageFaults;
    for (uint32_t row = 0; row < faults.size(); ++row)
        if (faults.gpu[row] == noIndex && faults.process[row] == process) return true;
    return std::any_of(trace.counters.begin(), trace.counters.end(),
                       [&](const CounterSeries& series) { return isOf(series, noIndex, process); });
}

}  // namespace lanescope
