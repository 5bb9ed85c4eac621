#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "model/trace/TrackBuilding.h"
#include "model/trace/categories.h"

namespace lanescope {

namespace {

/// A stream with less than this share of the operations of the busiest stream of its GPU is quiet:
/// it stands last and shows its own slices only, until it is unfolded. Start-up leaves several of
/// them.
constexpr double quietShare = 0.01;

/// Names of copies like "HtoD 4.00 MiB", made once for each kind and size.
class CopyNames {
  public:
    explicit CopyNames(Trace& trace) : trace_(trace) {}

    StringIndex of(EventRef copy, int64_t bytes, MemcpyKind kind) {
        const uint64_t key = static_cast<uint64_t>(bytes) << 8 | static_cast<uint64_t>(kind) << 1 |
                             (copy.kind() == EventKind::Memset ? 1 : 0);
        const auto [found, isNew] = names_.try_emplace(key, 0);
        if (isNew) found->second = trace_.strings.intern(trace_.nameOf(copy));
        return found->second;
    }

  private:
    Trace& trace_;
    std::unordered_map<uint64_t, StringIndex> names_;
};

std::vector<LaneBuilder> collectGpuWork(Trace& trace) {
    std::vector<LaneBuilder> builders(trace.streams.size());
    std::vector<SliceCategory> category;
    std::vector<StringIndex> name;
    for (const LaunchConfig& config : trace.launchConfigs) {
        name.push_back(config.shortName != 0 ? config.shortName : config.demangledName);
        category.push_back(kernelCategory(trace.strings.at(name.back())));
    }
    const KernelTable& kernels = trace.kernels;
    for (uint32_t row = 0; row < kernels.size(); ++row)
        builders[kernels.stream[row]].add(
            kernels.startNs[row], kernels.endNs[row], name[kernels.config[row]],
            EventRef(EventKind::Kernel, row), category[kernels.config[row]]);
    CopyNames copyNames(trace);
    const MemcpyTable& memcpys = trace.memcpys;
    for (uint32_t row = 0; row < memcpys.size(); ++row) {
        const EventRef event(EventKind::Memcpy, row);
        builders[memcpys.stream[row]].add(
            memcpys.startNs[row], memcpys.endNs[row],
            copyNames.of(event, memcpys.bytes[row], memcpys.kind[row]), event,
            memcpyCategory(memcpys.kind[row]));
    }
    const MemsetTable& memsets = trace.memsets;
    for (uint32_t row = 0; row < memsets.size(); ++row) {
        const EventRef event(EventKind::Memset, row);
        builders[memsets.stream[row]].add(
            memsets.startNs[row], memsets.endNs[row],
            copyNames.of(event, memsets.bytes[row], MemcpyKind::Unknown), event,
            SliceCategory::Memset);
    }
    const GraphTable& graphs = trace.graphs;
    std::unordered_map<int64_t, StringIndex> graphNames;
    for (uint32_t row = 0; row < graphs.size(); ++row) {
        const EventRef event(EventKind::Graph, row);
        const auto [found, isNew] = graphNames.try_emplace(graphs.graph[row], 0);
        if (isNew) found->second = trace.strings.intern(trace.nameOf(event));
        builders[graphs.stream[row]].add(graphs.startNs[row], graphs.endNs[row], found->second,
                                         event, SliceCategory::Graph);
    }
    return builders;
}

/// Which rows of the NVTX table are calls of NCCL.
std::vector<bool> ncclRows(const Trace& trace) {
    std::vector<bool> isNccl(trace.nvtx.size());
    for (const uint32_t row : trace.nccl.nvtx) isNccl[row] = true;
    return isNccl;
}

std::vector<std::vector<Lane>> collectProjections(const Trace& trace) {
    std::vector<std::vector<Lane>> lanes(trace.streams.size());
    const std::vector<bool> isNccl = ncclRows(trace);
    const ProjectionTable& table = trace.projections;
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (table.depth[row] >= LanePacker::maximumLanes) continue;
        std::vector<Lane>& ofStream = lanes[table.stream[row]];
        if (table.depth[row] >= ofStream.size()) ofStream.resize(table.depth[row] + size_t{1});
        const uint32_t nvtx = table.nvtx[row];
        appendSlice(ofStream[table.depth[row]], table.startNs[row], table.endNs[row],
                    trace.nvtx.text[nvtx], EventRef(EventKind::Projection, row),
                    isNccl[nvtx] ? SliceCategory::NcclCall : SliceCategory::Projection);
    }
    return lanes;
}

/// Migrations of managed memory belong to no stream; files have them on one of this number.
bool isUnifiedMemory(const Stream& stream) {
    return stream.contextId == 0 && stream.streamId == 0;
}

std::string streamTitle(const Stream& stream) {
    if (isUnifiedMemory(stream)) return "Unified memory";
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
        ncclCount +=
            std::count(lane.category.begin(), lane.category.end(), SliceCategory::NcclKernel);
        kernelCount +=
            std::count(lane.category.begin(), lane.category.end(), SliceCategory::Kernel);
    }
    return ncclCount > kernelCount;
}

/// A stream of a GPU that did something, with what decides where it stands.
struct StreamRank {
    uint32_t stream = 0;
    size_t sliceCount = 0;
    bool isQuiet = false;
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
        streams.push_back({stream, count});
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
        if (isUnifiedMemory(first) != isUnifiedMemory(second)) return isUnifiedMemory(second);
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

void addGpuTracks(Trace& trace) {
    std::vector<LaneBuilder> work = collectGpuWork(trace);
    std::vector<std::vector<Lane>> lanes(work.size());
    for (size_t stream = 0; stream < work.size(); ++stream) lanes[stream] = work[stream].build();
    std::vector<std::vector<Lane>> projections = collectProjections(trace);
    const StringIndex busy = trace.strings.intern("Busy");

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
        LaneBuilder all;
        for (const StreamRank& rank : streams) {
            const uint32_t stream = rank.stream;
            for (const Lane& lane : lanes[stream])
                for (uint32_t slice = 0; slice < lane.size(); ++slice)
                    all.add(lane.startNs[slice], lane.endNs[slice], 0, EventRef(),
                            SliceCategory::Busy);
            const uint32_t track =
                addTrack(trace, TrackKind::Stream, stream, static_cast<int32_t>(gpuTrack),
                         streamTitle(trace.streams[stream]),
                         streamSubtitle(trace, stream, namesProcess, lanes[stream]));
            trace.tracks[track].isInitiallyFolded = rank.isQuiet;
            trace.tracks[track].lanes = std::move(lanes[stream]);
            noteDropped(trace, track, work[stream].droppedCount());
            if (projections[stream].empty()) continue;
            const uint32_t projected =
                addTrack(trace, TrackKind::StreamProjection, stream, static_cast<int32_t>(track),
                         "NVTX", "work on the GPU");
            trace.tracks[projected].lanes = std::move(projections[stream]);
        }
        addComputedTracks(trace, gpu, gpuTrack);
        addGpuFaultTrack(trace, gpu, gpuTrack);
        trace.tracks[gpuTrack].lanes.push_back(all.buildUnion(busy));
    }
}

}  // namespace lanescope
