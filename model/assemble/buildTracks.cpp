// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/buildTracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/text/formatTable.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/processes.h"

namespace lanescope {

TrackSources::TrackSources(const Trace& trace, const std::stop_token& stop)
    : gpus_(static_cast<uint32_t>(trace.gpus.size())),
      processes_(static_cast<uint32_t>(trace.processes.size())),
      whole_(trace.timelineRange()),
      pairs_(counterPairs(trace.counters)) {
    const size_t owners = size_t{gpus_} + processes_ + 1;
    Column<uint32_t> ofCounters(trace.memory.get());
    for (const CounterSeries& series : trace.counters) ofCounters.push_back(numberOf({series.gpu, series.process}));
    counters_ =
        RowsByOwner(ofCounters, owners, stop, [this](uint32_t counter) { return pairs_.upperOf[counter] == noIndex; });
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; }) {
            Column<uint32_t> ofEvents(trace.memory.get());
            for (uint32_t row = 0; row < each.size(trace); ++row) {
                if (isStopped(stop, row)) break;
                const kinds::TrackSubject own = each.trackOf(trace, row);
                const bool isOfGpu = own.kind == TrackKind::GpuEvents;
                ofEvents.push_back(numberOf({isOfGpu ? own.subject : noIndex, isOfGpu ? noIndex : own.subject}));
            }
            events_.emplace_back(ofEvents, owners, stop);
        }
    });
}

bool TrackSources::hasAny(Owner owner) const {
    const uint32_t number = numberOf(owner);
    return !counters_.of(number).empty() ||
           std::ranges::any_of(events_, [&](const RowsByOwner& kind) { return !kind.of(number).empty(); });
}

uint32_t addTrack(Trace& trace, TrackKind kind, uint32_t subject, int32_t parent, std::string title,
                  std::string subtitle) {
    Track track;
    track.kind = kind;
    track.title = std::move(title);
    track.subtitle = std::move(subtitle);
    track.parent = parent;
    track.depth =
        parent < 0 ? uint16_t{0} : static_cast<uint16_t>(trace.tracks[static_cast<uint32_t>(parent)].depth + 1);
    track.subject = subject;
    trace.tracks.push_back(std::move(track));
    return static_cast<uint32_t>(trace.tracks.size() - 1);
}

std::string processSubtitle(const Process& process) {
    std::string text = fmt::format("PID {}", process.pid);
    if (process.rank) text += fmt::format(", rank {}", *process.rank);
    if (process.endedAbnormally) text += ", no exit record";
    return text;
}

void noteDropped(Trace& trace, uint32_t track, uint32_t count) {
    if (count == 0) return;
    trace.health.push_back(
        {Severity::Warning, HealthCode::EventsNotDrawn,
         fmt::format("{} on \"{}\" {} not drawn (more than {} others overlap there); summaries include {}.",
                     count == 1 ? "1 event" : fmt::format("{} events", count), trace.tracks[track].title,
                     count == 1 ? "is" : "are", LanePacker::maxLanes, count == 1 ? "it" : "them")});
}

namespace {

void noteSkippedGpus(Trace& trace) {
    const GpusOfProcesses gpus(trace);
    for (uint32_t process = 0; process < trace.processes.size(); ++process)
        if (gpus.countOf(process) > GpusOfProcesses::maxGpus)
            trace.health.push_back(
                {Severity::Warning, HealthCode::GpusNotExplained,
                 fmt::format("Process {} uses {} GPUs: steps and idle causes cover only the {} most used.",
                             trace.processes[process].pid, formatCount(static_cast<int64_t>(gpus.countOf(process))),
                             GpusOfProcesses::maxGpus),
                 trace.processes[process].globalPid});
}

}  // namespace

void buildTracks(Trace& trace, GpuLanes ofGpus, std::vector<ThreadLanes> ofThreads, StringIndex busy,
                 const std::stop_token& stop) {
    trace.tracks.clear();
    const TrackSources sources(trace, stop);
    if (stop.stop_requested()) return;
    addGpuTracks(trace, sources, std::move(ofGpus), stop);
    addProcessTracks(trace, sources, std::move(ofThreads), busy, stop);
    addHostTracks(trace, sources);
    markUnrecorded(trace);
    noteSkippedGpus(trace);
}

namespace {

template <class Kind>
void addEventTrack(Trace& trace, Kind kind, std::span<const uint32_t> rows, kinds::TrackSubject own, uint32_t parent) {
    if (rows.empty()) return;
    LaneBuilder builder(Packing::Compact, trace.memory.get());
    for (const uint32_t row : rows) {
        const TimeRange range = kind.rangeOf(trace, row);
        builder.add(range.startNs, range.endNs, trace.strings.intern(kind.nameOf(trace, row)), EventRef(kind.kind, row),
                    kind.categoryOf(trace, row));
    }
    const uint32_t track = addTrack(trace, own.kind, own.subject, static_cast<int32_t>(parent),
                                    std::string(kind.trackTitle), std::string(kind.trackSubtitle));
    trace.tracks[track].lanes = builder.build();
    noteDropped(trace, track, builder.droppedCount());
}

}  // namespace

void addEventTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner, uint32_t parent) {
    const kinds::TrackSubject own = owner.gpu != noIndex ? kinds::TrackSubject{TrackKind::GpuEvents, owner.gpu}
                                                         : kinds::TrackSubject{TrackKind::ProcessEvents, owner.process};
    size_t number = 0;
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; })
            addEventTrack(trace, each, sources.eventsOf(number++, owner), own, parent);
    });
}

}  // namespace lanescope
