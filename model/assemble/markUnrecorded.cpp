// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "model/assemble/buildTracks.h"

namespace lanescope {

namespace {

using Ranges = std::vector<TimeRange>;

/// Returns the parts of `whole` outside of `ranges`, which must be sorted.
Ranges complement(const Ranges& ranges, TimeRange whole) {
    Ranges rest;
    int64_t from = whole.startNs;
    for (const TimeRange& range : ranges) {
        if (range.startNs > from) rest.push_back({from, std::min(range.startNs, whole.endNs)});
        from = std::max(from, range.endNs);
        if (from >= whole.endNs) return rest;
    }
    if (from < whole.endNs) rest.push_back({from, whole.endNs});
    return rest;
}

/// Returns the intersection of two lists, each sorted and without overlaps.
Ranges intersection(const Ranges& a, const Ranges& b) {
    Ranges both;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const TimeRange common{std::max(a[i].startNs, b[j].startNs), std::min(a[i].endNs, b[j].endNs)};
        if (common.startNs < common.endNs) both.push_back(common);
        a[i].endNs < b[j].endNs ? ++i : ++j;
    }
    return both;
}

/// Returns the ranges sorted and without overlaps. Adjacent ones are merged.
Ranges united(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const TimeRange& a, const TimeRange& b) { return a.startNs < b.startNs; });
    Ranges all;
    for (const TimeRange& range : ranges) {
        if (!all.empty() && range.startNs <= all.back().endNs)
            all.back().endNs = std::max(all.back().endNs, range.endNs);
        else
            all.push_back(range);
    }
    return all;
}

std::set<uint32_t> processesOf(const Trace& trace, const Track& track) {
    std::set<uint32_t> processes;
    switch (track.kind) {
        case TrackKind::Gpu:
        case TrackKind::GpuEvents:
            for (const Stream& stream : trace.streams)
                if (stream.gpu == track.subject) processes.insert(stream.process);
            break;
        case TrackKind::Stream:
        case TrackKind::StreamProjection: processes.insert(trace.streams[track.subject].process); break;
        case TrackKind::Process:
        case TrackKind::ProcessEvents: processes.insert(track.subject); break;
        case TrackKind::Thread:
        case TrackKind::ThreadNvtx:
        case TrackKind::ThreadApi:
        case TrackKind::ThreadStates:
        case TrackKind::ThreadStacks: processes.insert(trace.threads[track.subject].process); break;
        case TrackKind::CounterGroup: break;
        case TrackKind::Counter:
        case TrackKind::CounterStates:
            if (const uint32_t process = trace.counters[track.subject].process; process != noIndex)
                processes.insert(process);
            break;
    }
    return processes;
}

/// Returns true if the lost events may include events of the track. An unknown kind may include any.
bool concerns(Loss what, TrackKind track) {
    const bool isAny =
        what == Loss::LogBlocks || what == Loss::NestedCalls || what == Loss::CallsWithoutMemory || !isKnown(what);
    switch (track) {
        case TrackKind::ThreadNvtx:  // NCCL operations are shown among the ranges.
            return isAny || what == Loss::NvtxCalls || what == Loss::NcclEvents;
        case TrackKind::Gpu:
        case TrackKind::Stream:
        case TrackKind::ThreadApi:
        case TrackKind::GpuEvents:
        case TrackKind::ProcessEvents:
        case TrackKind::Counter:
        case TrackKind::CounterStates: return isAny || what == Loss::CudaActivity;
        case TrackKind::CounterGroup:
        case TrackKind::ThreadStates:  // Recorded from another process.
        case TrackKind::ThreadStacks: return false;
        case TrackKind::StreamProjection:
        case TrackKind::Process:
        case TrackKind::Thread: return true;
    }
    return true;
}

}  // namespace

void markUnrecorded(Trace& trace) {
    std::vector<Ranges> unrecorded(trace.processes.size());
    bool areThereAny = false;
    for (size_t index = 0; index < trace.processes.size(); ++index) {
        const Process& process = trace.processes[index];
        areThereAny = areThereAny || process.hasWindows || !process.gaps.empty();
        if (process.hasWindows) unrecorded[index] = complement(process.windows, trace.range);
    }
    if (!areThereAny) return;
    for (Track& track : trace.tracks) {
        const std::set<uint32_t> processes = processesOf(trace, track);
        Ranges common, lossy;
        bool isFirst = true;
        for (const uint32_t process : processes) {
            common = isFirst ? unrecorded[process] : intersection(common, unrecorded[process]);
            isFirst = false;
            for (const Gap& gap : trace.processes[process].gaps)
                if (concerns(gap.what, track.kind)) lossy.push_back(gap.range);
        }
        if (!common.empty()) track.unrecorded = std::move(common);
        if (!lossy.empty()) track.lossy = united(std::move(lossy));
    }
}

}  // namespace lanescope
