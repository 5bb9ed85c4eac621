#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
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

/// Deals the work of the GPUs out to their streams, all kinds together in order of start.
class GpuWorkCollector {
  public:
    explicit GpuWorkCollector(Trace& trace)
        : trace_(trace), copyNames_(trace), builders_(trace.streams.size()) {
        for (const LaunchConfig& config : trace.launchConfigs) {
            kernelName_.push_back(config.shortName != 0 ? config.shortName : config.demangledName);
            kernelCategory_.push_back(kernelCategory(trace.strings.at(kernelName_.back())));
        }
    }

    std::vector<LaneBuilder> collect() {
        int64_t untilNs = 0;
        while (const auto kind = earliest(untilNs)) {
            switch (*kind) {
                case EventKind::Kernel:
                    take(kernel_, trace_.kernels, untilNs, [this] { addKernel(); });
                    break;
                case EventKind::Memcpy:
                    take(memcpy_, trace_.memcpys, untilNs, [this] { addMemcpy(); });
                    break;
                case EventKind::Memset:
                    take(memset_, trace_.memsets, untilNs, [this] { addMemset(); });
                    break;
                default:
                    take(graph_, trace_.graphs, untilNs, [this] { addGraph(); });
            }
        }
        return std::move(builders_);
    }

  private:
    /// The kind whose next row starts first, and how far it leads the others.
    std::optional<EventKind> earliest(int64_t& untilNs) const {
        std::optional<EventKind> first;
        int64_t firstNs = 0;
        untilNs = std::numeric_limits<int64_t>::max();
        const auto look = [&](const auto& table, uint32_t row, EventKind kind) {
            if (row >= table.size()) return;
            const int64_t startNs = table.startNs[row];
            if (!first || startNs < firstNs) {
                if (first) untilNs = std::min(untilNs, firstNs);
                first = kind;
                firstNs = startNs;
            } else {
                untilNs = std::min(untilNs, startNs);
            }
        };
        look(trace_.kernels, kernel_, EventKind::Kernel);
        look(trace_.memcpys, memcpy_, EventKind::Memcpy);
        look(trace_.memsets, memset_, EventKind::Memset);
        look(trace_.graphs, graph_, EventKind::Graph);
        return first;
    }

    template <class Table, class Add>
    void take(uint32_t& row, const Table& table, int64_t untilNs, Add add) {
        do {
            add();
            ++row;
        } while (row < table.size() && table.startNs[row] <= untilNs);
    }

    void addKernel() {
        const KernelTable& table = trace_.kernels;
        const uint32_t config = table.config[kernel_];
        add(table, kernel_, kernelName_[config], EventKind::Kernel, kernelCategory_[config]);
    }
    void addMemcpy() {
        const MemcpyTable& table = trace_.memcpys;
        const MemcpyKind kind = table.kind[memcpy_];
        add(table, memcpy_,
            copyNames_.of({EventKind::Memcpy, memcpy_}, table.bytes[memcpy_], kind),
            EventKind::Memcpy, memcpyCategory(kind));
    }
    void addMemset() {
        const MemsetTable& table = trace_.memsets;
        add(table, memset_,
            copyNames_.of({EventKind::Memset, memset_}, table.bytes[memset_], MemcpyKind::Unknown),
            EventKind::Memset, SliceCategory::Memset);
    }
    void addGraph() {
        const GraphTable& table = trace_.graphs;
        const auto [found, isNew] = graphNames_.try_emplace(table.graph[graph_], 0);
        if (isNew)
            found->second = trace_.strings.intern(trace_.nameOf({EventKind::Graph, graph_}));
        add(table, graph_, found->second, EventKind::Graph, SliceCategory::Graph);
    }
    template <class Table>
    void add(const Table& table, uint32_t row, StringIndex name, EventKind kind,
             SliceCategory category) {
        builders_[table.stream[row]].add(table.startNs[row], table.endNs[row], name,
                                         EventRef(kind, row), category);
    }

    Trace& trace_;
    CopyNames copyNames_;
    std::unordered_map<int64_t, StringIndex> graphNames_;
    std::vector<StringIndex> kernelName_;  ///< By launch configuration, as the following.
    std::vector<SliceCategory> kernelCategory_;
    std::vector<LaneBuilder> builders_;
    uint32_t kernel_ = 0, memcpy_ = 0, memset_ = 0, graph_ = 0;  ///< The next row of each table.
};

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
        for (const SliceCategory category : lane.category) {
            ncclCount += category == SliceCategory::NcclKernel ? 1 : 0;
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
    std::vector<LaneBuilder> work = GpuWorkCollector(trace).collect();
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
        std::vector<const Lane*> ofStreams;
        for (const StreamRank& rank : streams)
            for (const Lane& lane : lanes[rank.stream]) ofStreams.push_back(&lane);
        Lane all = unionOf(ofStreams, busy);
        for (const StreamRank& rank : streams) {
            const uint32_t stream = rank.stream;
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
        trace.tracks[gpuTrack].lanes.push_back(std::move(all));
    }
}

}  // namespace lanescope
