// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "model/assemble/buildTracks.h"
#include "model/trace/Track.h"
#include "model/trace/gpuNames.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

/// What a stream of a GPU is for, told by what ran on it. Streams of a GPU stand in this order.
enum class StreamRole : uint8_t { Compute, Communication, Copies, Memset, UnifiedMemory };

/// The role that most of the operations on these lanes have: a graph computes, and so does whatever
/// runs one kernel for each of its copies. Counts and not times decide, so that two runs of one
/// program look alike. Without operations `Compute`. O(n).
StreamRole roleOf(const std::vector<Lane>& lanes);

/// What a stream of this role is called: "Compute".
std::string_view nameOf(StreamRole role);

namespace {

/// How many operations of each kind ran.
struct Tally {
    int64_t kernels = 0;
    int64_t nccl = 0;
    int64_t copies = 0;
    int64_t memsets = 0;

    void add(SliceCategory category) {
        switch (category) {
            case SliceCategory::NcclKernel:
            case SliceCategory::NcclWait:
                ++nccl;
                return;
            case SliceCategory::MemcpyHtoD:
            case SliceCategory::MemcpyDtoH:
            case SliceCategory::MemcpyDtoD:
            case SliceCategory::MemcpyPtoP:
            case SliceCategory::MemcpyOther:
                ++copies;
                return;
            case SliceCategory::Memset:
                ++memsets;
                return;
            case SliceCategory::Kernel:
            case SliceCategory::Graph:
                ++kernels;
                return;
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
            case SliceCategory::CpuNoCore:
            case SliceCategory::CpuGil:
            case SliceCategory::CpuLock:
            case SliceCategory::CpuInput:
            case SliceCategory::CpuSleep:
            case SliceCategory::CpuFrame:
            case SliceCategory::CpuMixed:
                return;
        }
    }
};

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
        case StreamRole::Compute:
            return "Compute";
        case StreamRole::Communication:
            return "Communication";
        case StreamRole::Copies:
            return "Copies";
        case StreamRole::Memset:
            return "Memset";
        case StreamRole::UnifiedMemory:
            return "Unified memory";
    }
    return {};
}

namespace {

/// A stream with less than this share of the operations of the busiest stream of its GPU is quiet:
/// it stands last and shows its own slices only, until it is unfolded. Start-up leaves several of
/// them.
constexpr double quietShare = 0.01;

/// Migrations of managed memory belong to no stream; files have them on one of this number, on
/// which others, of AMD, have their kernels.
bool isUnifiedMemory(const Stream& stream, const std::vector<Lane>& lanes) {
    const auto isOfKernel = [](SliceCategory category) {
        return category == SliceCategory::Kernel || isOfNcclKernel(category);
    };
    return stream.contextId == 0 && stream.streamId == 0 &&
           std::none_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
               return std::any_of(lane.category.begin(), lane.category.end(), isOfKernel);
           });
}

std::string gpuSubtitle(const Gpu& gpu) {
    if (gpu.smCount <= 0) return gpu.name;
    return fmt::format("{}{}{} {}", gpu.name, gpu.name.empty() ? "" : ", ", gpu.smCount,
                       coresWord(gpu));
}

size_t sliceCountOf(const std::vector<Lane>& lanes) {
    size_t count = 0;
    for (const Lane& lane : lanes) count += lane.size();
    return count;
}

/// A stream of a GPU that did something, with what decides where it stands.
struct StreamRank {
    uint32_t stream = 0;
    size_t sliceCount = 0;
    StreamRole role = StreamRole::Compute;
    bool isQuiet = false;
};

/// The streams of a GPU by process and role, quiet ones behind; of one role those with the most
/// operations first; only those with work. Counts and not times decide, so that two runs of one
/// program look alike.
std::vector<StreamRank> streamsOf(const Trace& trace, uint32_t gpu,
                                  const std::vector<std::vector<Lane>>& lanes) {
    std::vector<StreamRank> streams;
    size_t most = 0;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
        const size_t count = sliceCountOf(lanes[stream]);
        if (trace.streams[stream].gpu != gpu || count == 0) continue;
        const bool isUnified = isUnifiedMemory(trace.streams[stream], lanes[stream]);
        streams.push_back(
            {stream, count, isUnified ? StreamRole::UnifiedMemory : roleOf(lanes[stream]), false});
        most = std::max(most, count);
    }
    // The few calls of NCCL are what a training on several GPUs waits for.
    for (StreamRank& rank : streams)
        rank.isQuiet =
            static_cast<double>(rank.sliceCount) < quietShare * static_cast<double>(most) &&
            rank.role != StreamRole::Communication;
    std::stable_sort(streams.begin(), streams.end(), [&trace](const auto& a, const auto& b) {
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

/// "Compute, stream 7": what it is for, and the number that the program knows it by.
std::string streamTitle(const Stream& stream, StreamRole role) {
    // What belongs to no stream has a number in files only.
    if (role == StreamRole::UnifiedMemory) return std::string(nameOf(role));
    return fmt::format("{}, {} {}", nameOf(role), stream.isNullStream ? "default stream" : "stream",
                       stream.streamId);
}

/// Whose stream it is, if that is not plain, and what runs on it.
std::string streamSubtitle(const Trace& trace, const StreamRank& rank, bool namesProcess) {
    std::string text;
    if (namesProcess) text = processSubtitle(trace.processes[trace.streams[rank.stream].process]);
    if (rank.role == StreamRole::Communication) text += text.empty() ? "NCCL" : ", NCCL";
    return text;
}

/// What ranges are called that stand below a stream: most files have them of one source.
std::string projectionTitle(const Trace& trace, const std::vector<Lane>& lanes) {
    for (const Lane& lane : lanes) {
        if (lane.size() == 0) continue;
        const uint32_t nvtx = trace.projections.nvtx[lane.event[0].row()];
        const std::string_view domain = trace.strings.at(trace.nvtx.domain[nvtx]);
        if (isOfProfiler(domain)) return "Operators";
    }
    return "NVTX";
}

}  // namespace

void addGpuTracks(Trace& trace, const TrackSources& sources, GpuLanes work,
                  const std::stop_token& stop) {
    std::vector<std::vector<Lane>>& lanes = work.ofStream;
    std::vector<std::vector<Lane>> projections = collectProjections(trace, stop);

    std::vector<uint32_t> gpus(trace.gpus.size());
    std::iota(gpus.begin(), gpus.end(), 0u);
    std::stable_sort(gpus.begin(), gpus.end(), [&trace](uint32_t a, uint32_t b) {
        return trace.gpus[a].id < trace.gpus[b].id;
    });
    for (const uint32_t gpu : gpus) {
        const std::vector<StreamRank> streams = streamsOf(trace, gpu, lanes);
        if (streams.empty() && !sources.hasAny({.gpu = gpu})) continue;
        const uint32_t gpuTrack =
            addTrack(trace, TrackKind::Gpu, gpu, -1, fmt::format("GPU {}", trace.gpus[gpu].id),
                     gpuSubtitle(trace.gpus[gpu]));
        const bool namesProcess = trace.processes.size() > 1;
        for (const StreamRank& rank : streams) {
            const uint32_t stream = rank.stream;
            const uint32_t track =
                addTrack(trace, TrackKind::Stream, stream, static_cast<int32_t>(gpuTrack),
                         streamTitle(trace.streams[stream], rank.role),
                         streamSubtitle(trace, rank, namesProcess));
            trace.tracks[track].isInitiallyFolded = rank.isQuiet;
            trace.tracks[track].lanes = std::move(lanes[stream]);
            noteDropped(trace, track, work.droppedOfStream[stream]);
            if (projections[stream].empty()) continue;
            const uint32_t projected =
                addTrack(trace, TrackKind::StreamProjection, stream, static_cast<int32_t>(track),
                         projectionTitle(trace, projections[stream]), "work on the GPU");
            trace.tracks[projected].lanes = std::move(projections[stream]);
        }
        addEventTracks(trace, sources, {.gpu = gpu}, gpuTrack);
        addCounterTracks(trace, sources, {.gpu = gpu}, gpuTrack);
        trace.tracks[gpuTrack].lanes.push_back(std::move(work.busyOfGpu[gpu]));
    }
}

}  // namespace lanescope
