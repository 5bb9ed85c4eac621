// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildTracks.h"

#include <fmt/format.h>

#include "model/build/TrackBuilding.h"
#include "model/trace/GpusOfProcesses.h"
#include "model/values/formatTable.h"

namespace lanescope {

uint32_t addTrack(Trace& trace, TrackKind kind, uint32_t subject, int32_t parent, std::string title,
                  std::string subtitle) {
    Track track;
    track.kind = kind;
    track.title = std::move(title);
    track.subtitle = std::move(subtitle);
    track.parent = parent;
    track.depth =
        parent < 0 ? uint16_t{0}
                   : static_cast<uint16_t>(trace.tracks[static_cast<uint32_t>(parent)].depth + 1);
    track.subject = subject;
    trace.tracks.push_back(std::move(track));
    return static_cast<uint32_t>(trace.tracks.size() - 1);
}

std::string processSubtitle(const Process& process) {
    std::string text = fmt::format("PID {}", process.pid);
    if (process.rank) text += fmt::format(", rank {}", *process.rank);
    if (process.endedAbnormally) text += ", ended abnormally";
    return text;
}

void noteDropped(Trace& trace, uint32_t track, uint32_t count) {
    if (count == 0) return;
    trace.health.push_back(
        {Severity::Warning, HealthCode::EventsNotDrawn,
         fmt::format("{} on \"{}\" {} not drawn, as more than {} others overlap there; summaries "
                     "count {}.",
                     count == 1 ? "1 event" : fmt::format("{} events", count),
                     trace.tracks[track].title, count == 1 ? "is" : "are", LanePacker::maximumLanes,
                     count == 1 ? "it" : "them")});
}

namespace {

void noteGpusLeftOut(Trace& trace) {
    const GpusOfProcesses gpus(trace);
    for (uint32_t process = 0; process < trace.processes.size(); ++process)
        if (gpus.countOf(process) > GpusOfProcesses::mostGpus)
            trace.health.push_back(
                {Severity::Warning, HealthCode::GpusNotExplained,
                 fmt::format("Process {} works on {} GPUs: steps, and why GPUs are idle, are told "
                             "of the {} that it uses most.",
                             trace.processes[process].pid,
                             formatCount(static_cast<int64_t>(gpus.countOf(process))),
                             GpusOfProcesses::mostGpus),
                 trace.processes[process].globalPid});
}

}  // namespace

void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads,
                 StringIndex busy, const std::stop_token& stop) {
    trace.tracks.clear();
    const TrackSources sources(trace, stop);
    if (stop.stop_requested()) return;
    addGpuTracks(trace, sources, std::move(ofGpus), stop);
    addProcessTracks(trace, sources, std::move(ofThreads), busy, stop);
    addHostTracks(trace, sources);
    markUnrecorded(trace);
    noteGpusLeftOut(trace);
}

}  // namespace lanescope
