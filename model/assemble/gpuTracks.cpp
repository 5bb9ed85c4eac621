// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/assemble/buildTracks.h"
#include "model/bandwidth/tensorUse.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatValue.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"
#include "model/trace/counterReadings.h"
#include "model/trace/gpuNames.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

/// The purpose of a GPU stream, derived from its operations. Streams of a GPU are sorted in this order.
enum class StreamRole : uint8_t { Compute, Communication, Copies, Memset, UnifiedMemory };

/// Returns the role of most operations on these lanes. A graph computes, as does a stream with a kernel for each copy.
/// Counts, not times, decide, so that two runs of one program look alike. `Compute` without operations. O(n).
StreamRole roleOf(const std::vector<Lane>& lanes);

/// Returns the display name of a role: "Compute".
std::string_view nameOf(StreamRole role);

namespace {

struct Tally {
    int64_t kernels = 0;
    int64_t nccl = 0;
    int64_t copies = 0;
    int64_t memsets = 0;

    void add(SliceCategory category) {
        switch (category) {
            case SliceCategory::NcclKernel:
            case SliceCategory::NcclWait: ++nccl; return;
            case SliceCategory::MemcpyHtoD:
            case SliceCategory::MemcpyDtoH:
            case SliceCategory::MemcpyDtoD:
            case SliceCategory::MemcpyPtoP:
            case SliceCategory::MemcpyOther: ++copies; return;
            case SliceCategory::Memset: ++memsets; return;
            case SliceCategory::Kernel:
            case SliceCategory::Graph: ++kernels; return;
            default: return;  // no work of a stream
        }
    }
};

/// A stream with less than this share of the operations of the busiest stream of its GPU is quiet.
/// It is shown last and, until unfolded, only with its own slices. Start-up leaves several of them.
constexpr double quietThreshold = 0.01;

/// Returns true if the stream contains migrations of managed memory. Files store them on this
/// stream number, which AMD profilers use for kernels.
bool isUnifiedMemory(const Stream& stream, const std::vector<Lane>& lanes) {
    const auto isOfKernel = [](SliceCategory category) {
        return category == SliceCategory::Kernel || isOfNcclKernel(category);
    };
    return stream.contextId == 0 && stream.streamId == 0 && std::ranges::none_of(lanes, [&](const Lane& lane) {
               return std::ranges::any_of(lane.category, isOfKernel);
           });
}

std::string gpuSubtitle(const Gpu& gpu) {
    if (gpu.smCount <= 0) return gpu.name;
    return fmt::format("{}{}{} {}", gpu.name, gpu.name.empty() ? "" : ", ", gpu.smCount, processorsName(gpu));
}

size_t sliceCountOf(const std::vector<Lane>& lanes) {
    return sumOf(lanes, [](const Lane& lane) { return size_t{lane.size()}; });
}

struct StreamRank {
    uint32_t stream = 0;
    size_t sliceCount = 0;
    StreamRole role = StreamRole::Compute;
    bool isQuiet = false;
};

/// Returns the active streams of a GPU by process and role, then by number of operations, quiet
/// ones last. Counts, not times, decide, so that two runs of one program look alike.
std::vector<StreamRank> streamsOf(const Trace& trace, uint32_t gpu, const std::vector<std::vector<Lane>>& lanes) {
    std::vector<StreamRank> streams;
    size_t maxCount = 0;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
        const size_t count = sliceCountOf(lanes[stream]);
        if (trace.streams[stream].gpu != gpu || count == 0) continue;
        const bool isUnified = isUnifiedMemory(trace.streams[stream], lanes[stream]);
        streams.push_back({stream, count, isUnified ? StreamRole::UnifiedMemory : roleOf(lanes[stream]), false});
        maxCount = std::max(maxCount, count);
    }
    // Communication is never quiet: a training on several GPUs waits for few NCCL calls.
    for (StreamRank& rank : streams)
        rank.isQuiet = static_cast<double>(rank.sliceCount) < quietThreshold * static_cast<double>(maxCount) &&
                       rank.role != StreamRole::Communication;
    std::ranges::stable_sort(streams, [&trace](const auto& a, const auto& b) {
        const Stream& first = trace.streams[a.stream];
        const Stream& second = trace.streams[b.stream];
        if (first.process != second.process) return first.process < second.process;
        const bool isFirstUnified = a.role == StreamRole::UnifiedMemory;
        if (isFirstUnified != (b.role == StreamRole::UnifiedMemory)) return !isFirstUnified;
        if (a.isQuiet != b.isQuiet) return b.isQuiet;
        if (a.role != b.role) return a.role < b.role;
        if (!a.isQuiet && a.sliceCount != b.sliceCount) return a.sliceCount > b.sliceCount;
        return first.streamId < second.streamId;
    });
    return streams;
}

/// Returns "Compute, stream 7": the role and the number of the stream in the program.
std::string streamTitle(const Stream& stream, StreamRole role) {
    // Migrations have a stream number only in files.
    if (role == StreamRole::UnifiedMemory) return std::string(nameOf(role));
    return fmt::format("{}, {} {}", nameOf(role), stream.isNullStream ? "default stream" : "stream", stream.streamId);
}

/// Returns the library of the first kernel that communicates: "NCCL".
std::string_view libraryIn(const Trace& trace, const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes)
        for (uint32_t slice = 0; slice < lane.size(); ++slice) {
            const EventRef event = lane.event[slice];
            if (lane.category[slice] != SliceCategory::NcclKernel || event.kind() != EventKind::Kernel) continue;
            return libraryOf(trace.strings.at(trace.launchConfigs.collective(trace.kernels.config[event.row()])));
        }
    return "NCCL";
}

/// Returns the process of a stream if it is not obvious, and its contents.
std::string streamSubtitle(const Trace& trace, const StreamRank& rank, const std::vector<Lane>& lanes,
                           bool namesProcess) {
    std::string text;
    if (namesProcess) text = processSubtitle(trace.processes[trace.streams[rank.stream].process]);
    if (rank.role == StreamRole::Communication)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", libraryIn(trace, lanes));
    return text;
}

/// Returns the title of the ranges below a stream. Most files have ranges of one source.
std::string projectionTitle(const Trace& trace, const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes) {
        if (lane.size() == 0) continue;
        const uint32_t nvtx = trace.projections.nvtx[lane.event[0].row()];
        const std::string_view domain = trace.strings.at(trace.nvtx.domain[nvtx]);
        if (isProfilerDomain(domain)) return "Operators";
    }
    return "NVTX";
}

/// The position of a counter of a GPU or of the host. Counters of one position are adjacent.
enum class Place : uint8_t {
    Activity,   ///< Utilization of the GPU: the best counter leads, the others are folded below it.
    Mfu,        ///< From tensor activity and clock.
    Memory,     ///< In use.
    Computed,   ///< From copies and collectives, below the links.
    LinkTotal,  ///< All NVLinks of a GPU in one direction. Single links are folded below it.
    Link,
    Other,  ///< In the folded group at the end.
    None,   ///< Not on the timeline: constant, or the total of a percentage.
};

bool startsWith(const CounterSeries& series, std::string_view prefix) { return series.key.rfind(prefix, 0) == 0; }

bool isNvlink(const CounterSeries& series) { return series.key == "nvlink.tx" || series.key == "nvlink.rx"; }

bool contains(std::string_view text, std::string_view part) {
    const auto same = [](char a, char b) { return lowerCase(a) == lowerCase(b); };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// Returns a lower rank for a better measure of GPU utilization.
int activityRank(const CounterSeries& series) {
    if (series.source == "pm")
        return contains(series.name, "SM Active") || contains(series.name, "SMs Active") ? 0 : 10;
    static constexpr std::array<std::string_view, 3> leading{"sm.activity", "gpu.utilization", "sm.occupancy"};
    const auto found = std::ranges::find(leading, series.key);
    return found == leading.end() ? 9 : 1 + static_cast<int>(found - leading.begin());
}

Place counterPlace(const CounterSeries& series) {
    if (series.key == mfuKey) return Place::Mfu;
    if (startsWith(series, computedPrefix)) return Place::Computed;
    if (isNvlink(series)) return series.link < 0 ? Place::LinkTotal : Place::Link;
    if (series.source.empty() || series.key == "memory.used") return Place::Memory;
    if (series.key == "memory.total") return Place::None;
    if (series.unit == CounterUnit::Percent) return Place::Activity;
    return Place::Other;
}

/// Returns "PID 4242, rank 0, peak 12.3 GiB" or "mean 13.3 % over 4.1 s". The owner is included
/// only if it is not obvious.
std::string counterSubtitle(const Trace& trace, const TrackSources& sources, const CounterSeries& series) {
    std::string text;
    const bool namesProcess = series.gpu != noIndex && series.process != noIndex && trace.processes.size() > 1;
    if (namesProcess) text = processSubtitle(trace.processes[series.process]) + ", ";
    return text + peakText(series, sources.whole());
}

/// Returns the common title for both directions of a link or device.
std::string pairTitle(const CounterSeries& series) {
    if (series.link >= 0) return fmt::format("Link {}", series.link);
    if (startsWith(series, "nvlink.")) return "NVLink";
    if (startsWith(series, "pcie.")) return "PCIe";
    if (startsWith(series, computedPrefix)) return "Peer copies (computed)";
    const char* const what = startsWith(series, "disk.") ? "disk" : "network";
    return series.device.empty() ? what : fmt::format("{} {}", what, series.device);
}

/// Returns "↑ 91.9 GB/s, ↓ 85.7 GB/s": the maxima, the upper one first. Short, as track names have
/// little room. For a disk, words replace the arrows.
std::string pairSubtitle(const CounterSeries& upper, const CounterSeries& lower, TimeRange within) {
    const std::string ofUpper = shortPeakText(upper, within);
    const std::string ofLower = shortPeakText(lower, within);
    return startsWith(upper, "disk.") ? fmt::format("read {}, written {}", ofUpper, ofLower)
                                      : fmt::format("\u2191 {}, \u2193 {}", ofUpper, ofLower);
}

std::string titleOf(const CounterSeries& series) {
    if (series.link >= 0) return fmt::format("Link {}", series.link);
    if (series.core >= 0) return fmt::format("Core {}", series.core);
    if (!series.device.empty()) return fmt::format("{} {}", series.device, series.name);
    return series.name;
}

/// Returns a lane with a slice for each interval of constant flags, and none without flags.
Lane laneOfFlags(Trace& trace, uint32_t counter) {
    LaneBuilder builder(Packing::Compact, trace.memory.get());
    const CounterSeries& series = trace.counters[counter];
    for (uint32_t sample = 0; sample < series.size();) {
        const double value = series.value(sample);
        uint32_t next = sample + 1;
        while (next < series.size() && series.value(next) == value) ++next;
        const std::string reasons = throttleReasonNames(value);
        if (!reasons.empty())
            builder.add(series.timeNs(sample), series.rangeOf(next - 1).endNs, trace.strings.intern(reasons),
                        trace.sampleEvent(counter, sample), SliceCategory::Counter);
        sample = next;
    }
    std::vector<Lane> lanes = builder.build();
    return lanes.empty() ? Lane() : std::move(lanes.front());
}

uint32_t addCounter(Trace& trace, const TrackSources& sources, uint32_t counter, uint32_t parent) {
    const CounterSeries& series = trace.counters[counter];
    if (const uint32_t lower = sources.pairs().lowerOf[counter]; lower != noIndex) {
        const uint32_t track =
            addTrack(trace, TrackKind::Counter, counter, static_cast<int32_t>(parent), pairTitle(series),
                     pairSubtitle(series, trace.counters[lower], sources.whole()));
        trace.tracks[track].lanes.resize(2);
        return track;
    }
    const bool isFlags = series.unit == CounterUnit::Flags;
    const uint32_t track =
        addTrack(trace, isFlags ? TrackKind::CounterStates : TrackKind::Counter, counter, static_cast<int32_t>(parent),
                 titleOf(series), isFlags ? "reasons" : counterSubtitle(trace, sources, series));
    trace.tracks[track].lanes.push_back(isFlags ? laneOfFlags(trace, counter) : Lane());
    return track;
}

/// Adds the first of `counters`, with the others folded below it.
void addFolded(Trace& trace, const TrackSources& sources, const std::vector<uint32_t>& counters, uint32_t parent) {
    if (counters.empty()) return;
    const uint32_t leader = addCounter(trace, sources, counters.front(), parent);
    for (size_t index = 1; index < counters.size(); ++index) addCounter(trace, sources, counters[index], leader);
    trace.tracks[leader].isInitiallyFolded = counters.size() > 1;
}

/// Returns a lower rank for a better measure of all links of a GPU. Hardware counters are read a
/// thousand times per second, and NVML's count every byte.
int linkRank(const CounterSeries& series) { return series.source == "pm" ? 0 : series.source == "nvml" ? 1 : 2; }

/// Adds the best total of each direction, or of both if they share a track. The other totals and
/// the single links are folded below it.
void addLinks(Trace& trace, const TrackSources& sources, const std::vector<uint32_t>& totals,
              const std::vector<uint32_t>& links, uint32_t parent) {
    std::map<std::string, std::vector<uint32_t>> byKey;
    for (const uint32_t total : totals) byKey[trace.counters[total].key].push_back(total);
    for (auto& [key, group] : byKey) {
        const size_t totalCount = group.size();
        std::set<std::string> samplers;
        for (const uint32_t total : group) samplers.insert(trace.counters[total].source);
        for (const uint32_t link : links)
            if (trace.counters[link].key == key && samplers.contains(trace.counters[link].source))
                group.push_back(link);
        std::stable_sort(group.begin() + static_cast<ptrdiff_t>(totalCount), group.end(),
                         [&trace](uint32_t a, uint32_t b) { return trace.counters[a].link < trace.counters[b].link; });
        const auto first = static_cast<uint32_t>(trace.tracks.size());
        addFolded(trace, sources, group, parent);
        for (size_t index = 1; index < totalCount; ++index)
            trace.tracks[first + index].title += trace.counters[group[index]].source == "nvml" ? " by NVML" : " by GPM";
    }
}

uint32_t addFoldedGroup(Trace& trace, uint32_t gpu, int32_t parent, std::string title) {
    const uint32_t group = addTrack(trace, TrackKind::CounterGroup, gpu, parent, std::move(title));
    trace.tracks[group].lanes.emplace_back();
    trace.tracks[group].isInitiallyFolded = true;
    return group;
}

/// Returns "SM activity and 13 more": the counter shown while the group is folded, and the number of others.
void nameContent(Trace& trace, uint32_t group) {
    const auto within = std::count_if(trace.tracks.begin() + group, trace.tracks.end(), [](const Track& each) {
        return each.kind == TrackKind::Counter || each.kind == TrackKind::CounterStates;
    });
    const uint32_t leader = leadingCounter(trace, group);
    std::string& text = trace.tracks[group].subtitle;
    if (leader == noIndex)
        text = fmt::format("{} counter{}", within, within == 1 ? "" : "s");
    else
        text = trace.tracks[group + 1].title + (within > 1 ? fmt::format(" and {} more", within - 1) : std::string());
}

void addGroup(Trace& trace, const TrackSources& sources, std::span<const uint32_t> counters, uint32_t gpu,
              uint32_t parent, std::string title) {
    if (counters.empty()) return;
    const uint32_t group = addFoldedGroup(trace, gpu, static_cast<int32_t>(parent), std::move(title));
    for (const uint32_t counter : counters) addCounter(trace, sources, counter, group);
    nameContent(trace, group);
}

void addGpuCounters(Trace& trace, const TrackSources& sources, std::span<const uint32_t> counters, uint32_t gpu,
                    uint32_t parent) {
    std::map<Place, std::vector<uint32_t>> places;
    for (const uint32_t counter : counters) places[counterPlace(trace.counters[counter])].push_back(counter);
    // If the links have counters of their own, a second total is an ordinary counter.
    const auto rankOf = [&trace](uint32_t counter) { return linkRank(trace.counters[counter]); };
    std::vector<uint32_t>& totals = places[Place::LinkTotal];
    std::ranges::stable_sort(totals, {}, rankOf);
    const auto others = std::ranges::find_if(totals, [&](uint32_t counter) { return rankOf(counter) > 1; });
    if (others != totals.begin()) {
        places[Place::Other].insert(places[Place::Other].end(), others, totals.end());
        totals.erase(others, totals.end());
    }
    std::vector<uint32_t>& activity = places[Place::Activity];
    std::ranges::stable_sort(activity, {}, [&trace](uint32_t each) { return activityRank(trace.counters[each]); });
    addFolded(trace, sources, activity, parent);
    for (const uint32_t counter : places[Place::Mfu]) addCounter(trace, sources, counter, parent);
    for (const uint32_t counter : places[Place::Memory]) addCounter(trace, sources, counter, parent);
    addLinks(trace, sources, totals, places[Place::Link], parent);
    for (const uint32_t counter : places[Place::Computed]) addCounter(trace, sources, counter, parent);
    // Without NVLink, PCIe is the main link.
    std::vector<uint32_t>& rest = places[Place::Other];
    const auto isPcie = [&trace](uint32_t each) { return startsWith(trace.counters[each], "pcie."); };
    const auto endOfPcie = std::stable_partition(rest.begin(), rest.end(), isPcie);
    const auto firstFolded = totals.empty() ? endOfPcie : rest.begin();
    for (auto each = rest.begin(); each != firstFolded; ++each) addCounter(trace, sources, *each, parent);
    addGroup(trace, sources, std::span(firstFolded, rest.end()), gpu, parent, "More counters");
}

}  // namespace

StreamRole roleOf(const std::vector<Lane>& lanes) {
    Tally tally;
    for (const Lane& lane : lanes)
        for (const SliceCategory category : lane.category) tally.add(category);
    if (tally.nccl > tally.kernels) return StreamRole::Communication;
    if (tally.kernels >= std::max(tally.copies, tally.memsets)) return StreamRole::Compute;
    return tally.copies >= tally.memsets ? StreamRole::Copies : StreamRole::Memset;
}

std::string_view nameOf(StreamRole role) {
    return enumText(role, {"Compute", "Communication", "Copies", "Memset", "Unified memory"});
}

void addGpuTracks(Trace& trace, const TrackSources& sources, GpuLanes work, const std::stop_token& stop) {
    std::vector<std::vector<Lane>>& lanes = work.ofStream;
    std::vector<std::vector<Lane>> projections = collectProjections(trace, stop);

    std::vector<uint32_t> gpus(trace.gpus.size());
    std::iota(gpus.begin(), gpus.end(), 0u);
    std::ranges::stable_sort(gpus, {}, [&trace](uint32_t each) { return trace.gpus[each].id; });
    for (const uint32_t gpu : gpus) {
        const std::vector<StreamRank> streams = streamsOf(trace, gpu, lanes);
        if (streams.empty() && !sources.hasAny({.gpu = gpu})) continue;
        const uint32_t gpuTrack = addTrack(trace, TrackKind::Gpu, gpu, -1, fmt::format("GPU {}", trace.gpus[gpu].id),
                                           gpuSubtitle(trace.gpus[gpu]));
        const bool namesProcess = trace.processes.size() > 1;
        for (const StreamRank& rank : streams) {
            const uint32_t stream = rank.stream;
            const uint32_t track = addTrack(trace, TrackKind::Stream, stream, static_cast<int32_t>(gpuTrack),
                                            streamTitle(trace.streams[stream], rank.role),
                                            streamSubtitle(trace, rank, lanes[stream], namesProcess));
            trace.tracks[track].isInitiallyFolded = rank.isQuiet;
            trace.tracks[track].lanes = std::move(lanes[stream]);
            noteDropped(trace, track, work.droppedOfStream[stream]);
            if (projections[stream].empty()) continue;
            const uint32_t projected = addTrack(trace, TrackKind::StreamProjection, stream, static_cast<int32_t>(track),
                                                projectionTitle(trace, projections[stream]), "work on the GPU");
            trace.tracks[projected].lanes = std::move(projections[stream]);
        }
        addEventTracks(trace, sources, {.gpu = gpu}, gpuTrack);
        addCounterTracks(trace, sources, {.gpu = gpu}, gpuTrack);
        trace.tracks[gpuTrack].lanes.push_back(std::move(work.busyOfGpu[gpu]));
    }
}

void addCounterTracks(Trace& trace, const TrackSources& sources, TrackSources::Owner owner, uint32_t parent) {
    const std::span<const uint32_t> own = sources.countersOf(owner);
    if (owner.gpu == noIndex) return addGroup(trace, sources, own, noIndex, parent, "Counters");
    const bool isAnyDrawn = std::ranges::any_of(
        own, [&trace](uint32_t counter) { return counterPlace(trace.counters[counter]) != Place::None; });
    if (!isAnyDrawn) return;
    const uint32_t group = addFoldedGroup(trace, owner.gpu, static_cast<int32_t>(parent), "Counters");
    addGpuCounters(trace, sources, own, owner.gpu, group);
    nameContent(trace, group);
}

void addHostTracks(Trace& trace, const TrackSources& sources) {
    std::vector<uint32_t> cores, machine, others;
    for (const uint32_t counter : sources.countersOf({})) {
        const CounterSeries& series = trace.counters[counter];
        if (series.key == "cpu.share")
            (series.core >= 0 ? cores : machine).push_back(counter);
        else
            others.push_back(counter);
    }
    if (cores.empty() && machine.empty() && others.empty()) return;
    const uint32_t host = addFoldedGroup(trace, noIndex, -1, "Host");
    std::ranges::stable_sort(cores, {}, [&trace](uint32_t core) { return trace.counters[core].core; });
    if (machine.empty()) {
        addGroup(trace, sources, cores, noIndex, host, "Cores");
    } else {
        machine.insert(machine.end(), cores.begin(), cores.end());
        addFolded(trace, sources, machine, host);
    }
    for (const uint32_t counter : others) addCounter(trace, sources, counter, host);
    nameContent(trace, host);
}

}  // namespace lanescope
