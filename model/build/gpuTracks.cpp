// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/build/TrackBuilding.h"

namespace lanescope {

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

std::string streamTitle(const Stream& stream, bool isUnifiedMemory) {
    if (isUnifiedMemory) return "Unified memory";
    return fmt::format("{} {}", stream.isNullStream ? "Default stream" : "Stream", stream.streamId);
}

std::string gpuSubtitle(const Gpu& gpu) {
    if (gpu.smCount <= 0) return gpu.name;
    return fmt::format("{}{}{} SMs", gpu.name, gpu.name.empty() ? "" : ", ", gpu.smCount);
}

size_t sliceCountOf(const std::vector<Lane>& lanes) {
    size_t count = 0;
    for (const Lane& lane : lanes) count += lane.size();
    return count;
}

bool isMostlyNccl(const std::vector<Lane>& lanes) {
    int64_t ncclCount = 0;
    int64_t kernelCount = 0;
    for (const Lane& lane : lanes) {
        for (const SliceCategory category : lane.category) {
            ncclCount += isOfNcclKernel(category) ? 1 : 0;
            kernelCount += category == SliceCategory::Kernel ? 1 : 0;
        }
    }
    return ncclCount > kernelCount;
}

/// A stream of a GPU that did something, with what decides where it stands.
struct StreamRank {
    uint32_t stream = 0;
    size_t sliceCount = 0;
    bool isQuiet = false;
    bool isUnifiedMemory = false;
};

/// The streams of a GPU by process, busy ones first, those with the most operations before all;
/// only those with work. Counts and not times decide, so that two runs of one program look alike.
std::vector<StreamRank> streamsOf(const Trace& trace, uint32_t gpu,
                                  const std::vector<std::vector<Lane>>& lanes) {
    std::vector<StreamRank> streams;
    size_t most = 0;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
        const size_t count = sliceCountOf(lanes[stream]);
        if (trace.streams[stream].gpu != gpu || count == 0) continue;
        streams.push_back(
            {stream, count, false, isUnifiedMemory(trace.streams[stream], lanes[stream])});
        most = std::max(most, count);
    }
    // The few calls of NCCL are what a training on several GPUs waits for.
    for (StreamRank& rank : streams)
        rank.isQuiet =
            static_cast<double>(rank.sliceCount) < quietShare * static_cast<double>(most) &&
            !isMostlyNccl(lanes[rank.stream]);
    std::stable_sort(streams.begin(), streams.end(), [&trace](const auto& a, const auto& b) {
        const Stream& first = trace.streams[a.stream];
        const Stream& second = trace.streams[b.stream];
        if (first.process != second.process) return first.process < second.process;
        if (a.isUnifiedMemory != b.isUnifiedMemory) return b.isUnifiedMemory;
        if (a.isQuiet != b.isQuiet) return b.isQuiet;
        if (!a.isQuiet && a.sliceCount != b.sliceCount) return a.sliceCount > b.sliceCount;
        return first.streamId < second.streamId;
    });
    return streams;
}

/// Whose stream it is, if that is not plain, and what runs on it.
std::string streamSubtitle(const Trace& trace, uint32_t stream, bool namesProcess,
                           const std::vector<Lane>& lanes) {
    std::string text;
    if (namesProcess) text = processSubtitle(trace.processes[trace.streams[stream].process]);
    if (isMostlyNccl(lanes)) text += text.empty() ? "NCCL" : ", NCCL";
    return text;
}

}  // namespace

void addGpuTracks(Trace& trace, GpuLanes work, const std::stop_token& stop) {
    std::vector<std::vector<Lane>>& lanes = work.ofStream;
    std::vector<std::vector<Lane>> projections = collectProjections(trace, stop);

    std::vector<uint32_t> gpus(trace.gpus.size());
    std::iota(gpus.begin(), gpus.end(), 0u);
    std::stable_sort(gpus.begin(), gpus.end(), [&trace](uint32_t a, uint32_t b) {
        return trace.gpus[a].id < trace.gpus[b].id;
    });
    for (const uint32_t gpu : gpus) {
        const std::vector<StreamRank> streams = streamsOf(trace, gpu, lanes);
        if (streams.empty() && !gpuHasOtherTracks(trace, gpu)) continue;
        const uint32_t gpuTrack =
            addTrack(trace, TrackKind::Gpu, gpu, -1, fmt::format("GPU {}", trace.gpus[gpu].id),
                     gpuSubtitle(trace.gpus[gpu]));
        const bool namesProcess = trace.processes.size() > 1;
        addCounterTracks(trace, gpu, noIndex, gpuTrack);
        for (const StreamRank& rank : streams) {
            const uint32_t stream = rank.stream;
            const uint32_t track =
                addTrack(trace, TrackKind::Stream, stream, static_cast<int32_t>(gpuTrack),
                         streamTitle(trace.streams[stream], rank.isUnifiedMemory),
                         streamSubtitle(trace, stream, namesProcess, lanes[stream]));
            trace.tracks[track].isInitiallyFolded = rank.isQuiet;
            trace.tracks[track].lanes = std::move(lanes[stream]);
            noteDropped(trace, track, work.droppedOfStream[stream]);
            if (projections[stream].empty()) continue;
            const uint32_t projected =
                addTrack(trace, TrackKind::StreamProjection, stream, static_cast<int32_t>(track),
                         "NVTX", "work on the GPU");
            trace.tracks[projected].lanes = std::move(projections[stream]);
        }
        addComputedTracks(trace, gpu, gpuTrack);
        addEventTracks(trace, TrackKind::GpuEvents, gpu, gpuTrack);
        trace.tracks[gpuTrack].lanes.push_back(std::move(work.busyOfGpu[gpu]));
    }
}

}  // namespace lanescope
