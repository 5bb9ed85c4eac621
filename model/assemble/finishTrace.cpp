// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/finishTrace.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "model/assemble/buildMemory.h"
#include "model/assemble/buildNccl.h"
#include "model/assemble/buildTracks.h"
#include "model/assemble/checkLaunches.h"
#include "model/assemble/linkEvents.h"
#include "model/assemble/sortTables.h"
#include "model/bandwidth/tensorUse.h"
#include "model/format/sourceNames.h"
#include "model/lod/traceSums.h"
#include "model/numbers/MixedMap.h"
#include "model/text/collectiveKernels.h"
#include "model/text/kernelNames.h"
#include "model/trace/Trace.h"
#include "model/trace/buildLinkCounters.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/tasks.h"

namespace lanescope {

/// Assigns kernels their well-known short names (`knownKernelName`) and the operations of those that communicate
/// (`collectiveOperation`). O(launch configurations) and the length of their names. No other thread may read the names
/// meanwhile.
void nameKernels(Trace& trace);

void nameKernels(Trace& trace) {
    struct Names {
        StringIndex shortName = 0, collective = 0;  // 0 for none
    };
    MixedMap<StringIndex, Names> known;  // by full name
    for (LaunchConfig& config : trace.launchConfigs) {
        const StringIndex whole = config.demangledName != 0 ? config.demangledName : config.shortName;
        const auto [found, isNew] = known.try_emplace(whole);
        if (isNew) {
            const std::string inSource = kernelNameInSource(trace.strings.at(whole));
            if (const std::string name = knownKernelName(inSource); !name.empty())
                found->second.shortName = trace.strings.intern(name);
            if (const std::string operation = collectiveOperation(inSource); !operation.empty())
                found->second.collective = trace.strings.intern(operation);
        }
        if (found->second.shortName != 0) config.shortName = found->second.shortName;
        config.collective = found->second.collective;
    }
}

namespace {

constexpr TimeRange nothing{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};

class RangeFinder {
  public:
    RangeFinder(Trace& trace, const std::stop_token& stop) : trace_(trace), stop_(stop) {
        trace_.range = nothing;
        for (Process& process : trace_.processes) {
            recordedEndNs_.push_back(process.range.endNs);
            process.range = nothing;
        }
    }

    template <class Table, class ProcessOf>
    void take(const Table& table, ProcessOf processOf) {
        for (uint32_t row = 0; row < table.size() && !isStopped(stop_, row); ++row)
            take(TimeRange{table.startNs[row], table.endNs[row]}, processOf(row));
    }

    void take(TimeRange event, uint32_t process) {
        TimeRange& range = trace_.processes[process].range;
        range = range.united(event);
        trace_.range = trace_.range.united(event);
    }

    bool isEmpty() const { return trace_.range == nothing; }

    /// Extends ranges to the end of their processes, so that a hang after the last event is visible.
    void finish() {
        for (size_t index = 0; index < trace_.processes.size(); ++index) {
            TimeRange& range = trace_.processes[index].range;
            if (range == nothing) {
                range = {};
                continue;
            }
            if (recordedEndNs_[index] != 0) range.endNs = std::max(range.endNs, recordedEndNs_[index]);
            trace_.range = trace_.range.united(range);
        }
        if (trace_.range == nothing) trace_.range = {};
    }

  private:
    Trace& trace_;
    const std::stop_token& stop_;
    std::vector<int64_t> recordedEndNs_;  ///< By process; 0 if unknown.
};

void findRanges(Trace& trace, const std::stop_token& stop) {
    RangeFinder finder(trace, stop);
    const auto takeAll = [&](auto each) {
        finder.take(each.table(trace), [&](uint32_t row) { return each.processOf(trace, row); });
    };
    forEachKind([&](auto each) {
        // Thread states before and after the recording are not part of the measured range.
        if constexpr (each.origin == kinds::Origin::Recorded && each.kind != EventKind::CpuState) takeAll(each);
    });
    const MemoryEventTable& memory = trace.memoryEvents;
    for (uint32_t row = 0; row < memory.size() && !isStopped(stop, row); ++row)
        finder.take(TimeRange{memory.timeNs[row], memory.timeNs[row]}, memory.process[row]);
    if (finder.isEmpty()) takeAll(kinds::CpuState{});
    finder.finish();
}

/// Returns by process the last time at which its threads were sampled from outside; 0 if never.
std::vector<int64_t> lastSampledNs(const Trace& trace, const std::stop_token& stop) {
    std::vector<int64_t> sampledNs(trace.processes.size());
    const CpuStateTable& states = trace.cpuStates;
    for (uint32_t row = 0; row < states.size() && !isStopped(stop, row); ++row) {
        int64_t& endNs = sampledNs[trace.threads[states.thread[row]].process];
        endNs = std::max(endNs, states.endNs[row]);
    }
    return sampledNs;
}

/// Ends open ranges at the last event or outside sample of their process, not at the end of the trace. After a kill, no
/// later time is known. For a process without later events, the end of the trace is the best estimate.
void endOpenRanges(Trace& trace, const std::stop_token& stop) {
    NvtxTable& nvtx = trace.nvtx;
    std::optional<std::vector<int64_t>> sampledNs;
    for (uint32_t row = 0; row < nvtx.size() && !isStopped(stop, row); ++row) {
        if (nvtx.isOpen[row] == 0) continue;
        const int64_t startNs = nvtx.startNs[row];
        const uint32_t index = trace.threads[nvtx.thread[row]].process;
        const Process& process = trace.processes[index];
        int64_t endNs = process.range.endNs;
        if (endNs <= startNs) {
            if (!sampledNs) sampledNs = lastSampledNs(trace, stop);
            endNs = (*sampledNs)[index];
        }
        if (endNs <= startNs) endNs = process.endedAbnormally ? startNs : trace.range.endNs;
        nvtx.endNs.set(row, std::max(startNs, endNs));
    }
}

void noteColors(NvtxTable& nvtx) {
    nvtx.hasColors =
        std::any_of(nvtx.colorArgb.begin(), nvtx.colorArgb.end(), [](uint32_t color) { return color != 0; });
}

void computeDepths(Trace& trace, const std::stop_token& stop) {
    NvtxTable& nvtx = trace.nvtx;
    MixedMap<uint64_t, std::vector<int64_t>> openEnds;  // by thread and domain
    Column<uint16_t> depth(trace.memory.get());
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (isStopped(stop, row)) return;
        if (nvtx.style[row] == NvtxStyle::StartEnd) {
            depth.push_back(0);
            continue;
        }
        auto& ends = openEnds[uint64_t{nvtx.thread[row]} << 32 | nvtx.domain[row]];
        while (!ends.empty() && ends.back() <= nvtx.startNs[row]) ends.pop_back();
        depth.push_back(static_cast<uint16_t>(std::min<size_t>(ends.size(), UINT16_MAX)));
        if (nvtx.style[row] == NvtxStyle::PushPop) ends.push_back(nvtx.endNs[row]);
    }
    nvtx.depth = std::move(depth);
}

void buildTiles(Trace& trace, unsigned threads, const std::stop_token& stop) {
    Tasks tasks;
    for (Track& track : trace.tracks)
        for (Lane& lane : track.lanes)
            if (lane.size() >= LaneTiles::minSlices)
                tasks.emplace_back([&lane, &stop] { lane.tiles = buildLaneTiles(lane, stop); });
    runTasks(threads, tasks);
}

/// Sets the facts that only names tell: kind of producer, vendors, and the API of the program, by
/// the first call with a known prefix, else by the GPUs.
void setKinds(Trace& trace) {
    // Nearly every call has a known prefix.
    constexpr size_t maxScannedCalls = 1000;
    trace.producerKind = producerKindOf(trace.producer);
    for (Gpu& gpu : trace.gpus) gpu.vendor = gpuVendorOf(gpu.name);
    const bool isAmd = std::ranges::any_of(trace.gpus, [](const Gpu& gpu) { return gpu.vendor == GpuVendor::Amd; });
    trace.gpuApi = isAmd ? GpuApi::Hip : GpuApi::Cuda;
    const size_t scanned = std::min(trace.apiCalls.name.size(), maxScannedCalls);
    for (size_t row = 0; row < scanned; ++row)
        if (const auto api = gpuApiOf(trace.strings.at(trace.apiCalls.name[row]))) {
            trace.gpuApi = *api;
            return;
        }
}

}  // namespace

bool finishTrace(Trace& trace, unsigned threads, const std::stop_token& stop) {
    findRanges(trace, stop);
    endOpenRanges(trace, stop);
    sortTables(trace, threads, stop);
    computeDepths(trace, stop);
    noteColors(trace.nvtx);
    buildStacks(trace, stop);
    setKinds(trace);
    // Later steps require sorted rows and complete links.
    if (stop.stop_requested()) return false;
    trace.links = buildLaunchLinks(trace, threads, stop);
    checkLaunches(trace, stop);
    // Strings must not grow while several threads read them.
    nameKernels(trace);
    const StringIndex busy = trace.strings.intern("Busy");
    const WorkNames names(trace, stop);
    const StateNames stateNames(trace);
    if (stop.stop_requested()) return false;
    GpuLanes ofGpus;
    std::vector<ThreadLanes> ofThreads;
    // GPU lanes show the waiting of collectives, if any.
    const bool areLanesLast = trace.nccl.size() > 0;
    const auto collectLanes = [&] { ofGpus = collectGpuLanes(trace, names, busy, stop); };
    runTasks(threads, {[&] {
                           buildWaits(trace);
                           buildBackwards(trace, stop);
                           buildProjections(trace, stop);
                           if (stop.stop_requested()) return;
                           buildNcclWork(trace, stop);
                           buildNcclWaits(trace, stop);
                           noteMissingOperations(trace, stop);
                           buildLinkCounters(trace, stop);
                           addMfuCounters(trace);
                           buildMemory(trace, stop);
                           if (areLanesLast) collectLanes();
                       },
                       [&] {
                           if (!areLanesLast) collectLanes();
                       },
                       [&] { ofThreads = collectThreadLanes(trace, stateNames, busy, stop); }});
    if (stop.stop_requested()) return false;
    buildTracks(trace, std::move(ofGpus), std::move(ofThreads), busy, stop);
    buildTiles(trace, threads, stop);
    if (stop.stop_requested()) return false;
    trace.sums = buildTraceSums(trace, threads, stop);
    return !stop.stop_requested();
}

}  // namespace lanescope
