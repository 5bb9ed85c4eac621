// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "model/assemble/buildTracks.h"
#include "model/text/collectiveKernels.h"
#include "model/trace/Track.h"
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
            case SliceCategory::ApiLaunch:
            case SliceCategory::ApiMemory:
            case SliceCategory::ApiSync:
            case SliceCategory::ApiOther:
            case SliceCategory::Nvtx:
            case SliceCategory::NcclCall:
            case SliceCategory::Projection:
            case SliceCategory::ManagedMemory:
            case SliceCategory::Counter:
            case SliceCategory::Busy:
            case SliceCategory::CpuRunning:
            case SliceCategory::CpuRunnable:
            case SliceCategory::CpuGil:
            case SliceCategory::CpuLock:
            case SliceCategory::CpuInput:
            case SliceCategory::CpuSleep:
            case SliceCategory::CpuFrame:
            case SliceCategory::CpuMixed: return;
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
    size_t count = 0;
    for (const Lane& lane : lanes) count += lane.size();
    return count;
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
    switch (role) {
        case StreamRole::Compute: return "Compute";
        case StreamRole::Communication: return "Communication";
        case StreamRole::Copies: return "Copies";
        case StreamRole::Memset: return "Memset";
        case StreamRole::UnifiedMemory: return "Unified memory";
    }
    return {};
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

}  // namespace lanescope
