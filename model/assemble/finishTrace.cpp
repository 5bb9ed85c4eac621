// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/finishTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/assemble/buildTracks.h"
#include "model/bandwidth/tensorUse.h"
#include "model/format/factNames.h"
#include "model/lod/SumTable.h"
#include "model/numbers/MixedMap.h"
#include "model/text/apiCalls.h"
#include "model/text/collectiveKernels.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"

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
    std::ranges::sort(ranges, {}, &TimeRange::startNs);
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
        case TrackKind::GpuEvents:
        case TrackKind::ProcessEvents:
        case TrackKind::Counter:
        case TrackKind::CounterStates: return isAny || what == Loss::CudaActivity;
        case TrackKind::ThreadApi: return isAny || what == Loss::CudaActivity || what == Loss::CudaCalls;
        case TrackKind::CounterGroup:
        case TrackKind::ThreadStates:  // Recorded from another process.
        case TrackKind::ThreadStacks: return false;
        case TrackKind::StreamProjection:
        case TrackKind::Process:
        case TrackKind::Thread: return true;
    }
    return true;
}

/// A limit for crafted files. No real process uses all GPUs of many hosts.
constexpr size_t maxUses = size_t{1} << 14;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

enum class Use : uint8_t { Device, Pools, Managed, Pinned };

std::string_view nameOf(Use use) {
    return enumText(use, {"Device memory", "Memory pools", "Managed memory", "Pinned memory"});
}

Use useOf(MemoryKind kind) {
    if (kind == MemoryKind::Managed || kind == MemoryKind::ManagedStatic) return Use::Managed;
    return kind == MemoryKind::Pinned || kind == MemoryKind::Pageable ? Use::Pinned : Use::Device;
}

struct GrowingCounter : CollectedValues {
    using CollectedValues::CollectedValues;
    double current = 0;

    void change(int64_t timeNs, double by) { add(timeNs, current += by); }
};

/// By use, process and GPU. Host memory and managed memory have no GPU.
using CounterKey = std::tuple<uint32_t, uint32_t, Use>;

struct AddressKey {
    uint32_t process;
    uint64_t address;
    bool operator==(const AddressKey&) const = default;
};
struct AddressHash {
    size_t operator()(const AddressKey& key) const {
        return static_cast<size_t>(mixed(key.address ^ mixed(key.process)));
    }
};

class MemoryBuilder {
  public:
    explicit MemoryBuilder(Trace& trace) : trace_(trace) {}

    void build(const std::stop_token& stop) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const MemoryPoolTable& pools = trace_.memoryPools;
        for (uint32_t row = 0; row < events.size() && !isStopped(stop, row); ++row)
            events.isFree[row] != 0 ? takeFree(row) : takeAllocation(row);
        for (uint32_t row = 0; row < pools.size() && !isStopped(stop, row); ++row) takePool(row);
        for (const auto& [key, row] : live_) {
            const TimeRange process = trace_.processes[key.process].range;
            trace_.allocations.endNs.set(row, std::max(trace_.allocations.startNs[row], process.endNs));
            trace_.allocations.isLive.set(row, 1);
        }
        for (auto& [key, counter] : counters_)
            if (!stop.stop_requested()) addSeries(key, counter);
        noteOdd();
    }

  private:
    /// Returns null if the limit is reached.
    GrowingCounter* counterFor(Use use, uint32_t process, uint32_t gpu) {
        const bool isOfGpu = use == Use::Device || use == Use::Pools;
        const CounterKey key{isOfGpu ? gpu : noIndex, process, use};
        const auto found = counters_.find(key);
        if (found != counters_.end()) return &found->second;
        if (counters_.size() < maxUses) return &counters_.try_emplace(key, trace_.memory.get()).first->second;
        ++uncounted_;
        return nullptr;
    }
    void change(Use use, uint32_t process, uint32_t gpu, int64_t timeNs, double by) {
        if (GrowingCounter* const counter = counterFor(use, process, gpu)) counter->change(timeNs, by);
    }

    void takeAllocation(uint32_t row) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const AddressKey key{events.process[row], events.address[row]};
        if (const auto old = live_.find(key); old != live_.end()) {
            // The free was lost, since the address was allocated again.
            ++lostFrees_;
            end(old->second, events.timeNs[row]);
            live_.erase(old);
        }
        AllocationTable& table = trace_.allocations;
        live_.emplace(key, table.size());
        table.startNs.push_back(events.timeNs[row]);
        table.endNs.push_back(events.timeNs[row]);
        table.bytes.push_back(events.bytes[row]);
        table.address.push_back(events.address[row]);
        table.kind.push_back(events.kind[row]);
        table.isLive.push_back(0);
        table.isPooled.push_back(events.isPooled[row]);
        table.process.push_back(events.process[row]);
        table.gpu.push_back(events.gpu[row]);
        change(useOf(events.kind[row]), events.process[row], events.gpu[row], events.timeNs[row],
               static_cast<double>(events.bytes[row]));
    }

    void takeFree(uint32_t row) {
        const MemoryEventTable& events = trace_.memoryEvents;
        const auto found = live_.find({events.process[row], events.address[row]});
        if (found == live_.end()) {
            ++unknownFrees_;
            return;
        }
        end(found->second, events.timeNs[row]);
        live_.erase(found);
    }

    void end(uint32_t allocation, int64_t timeNs) {
        AllocationTable& table = trace_.allocations;
        table.endNs.set(allocation, std::max(table.startNs[allocation], timeNs));
        change(useOf(table.kind[allocation]), table.process[allocation], table.gpu[allocation], timeNs,
               -static_cast<double>(table.bytes[allocation]));
    }

    void takePool(uint32_t row) {
        const MemoryPoolTable& pools = trace_.memoryPools;
        double& size = poolBytes_[{pools.process[row], pools.address[row]}];
        const auto bytes = static_cast<double>(pools.bytes[row]);
        GrowingCounter* const counter = counterFor(Use::Pools, pools.process[row], pools.gpu[row]);
        if (counter != nullptr && (bytes != size || counter->timesNs.empty()))
            counter->change(pools.timeNs[row], bytes - size);
        size = bytes;
    }

    /// Memory is unknown outside of the recording windows of a process.
    void addSeries(const CounterKey& key, GrowingCounter& grown) {
        const auto& [gpu, processIndex, use] = key;
        const Process& process = trace_.processes[processIndex];
        CollectedValues bytes(trace_.memory.get());
        if (!process.hasWindows && process.range.startNs < grown.timesNs.front()) bytes.add(process.range.startNs, 0);
        size_t next = 0;
        double value = 0;
        for (const TimeRange& window : process.windows) {
            for (; next < grown.timesNs.size() && grown.timesNs[next] < window.startNs; ++next)
                value = grown.values[next];
            const int64_t endNs = std::min(window.endNs, std::max(window.startNs, process.range.endNs));
            bytes.add(window.startNs, value);
            for (; next < grown.timesNs.size() && grown.timesNs[next] < window.endNs; ++next) {
                value = grown.values[next];
                bytes.add(grown.timesNs[next], value);
            }
            if (endNs < process.range.endNs) bytes.add(endNs, unknown);
        }
        if (!process.hasWindows)
            for (; next < grown.timesNs.size(); ++next) bytes.add(grown.timesNs[next], grown.values[next]);
        CounterSeries series;
        series.name = nameOf(use);
        series.unit = CounterUnit::Bytes;
        series.gpu = gpu;
        series.process = processIndex;
        series.set(bytes.timesNs, bytes.values, process.range.endNs);
        trace_.counters.push_back(std::move(series));
    }

    void noteOdd() {
        if (uncounted_ > 0)
            trace_.health.push_back(
                {Severity::Warning, HealthCode::CounterLeftOut,
                 fmt::format("Memory in use is shown for {} counters only; {} changes of other counters are not shown.",
                             formatCount(static_cast<int64_t>(maxUses)), formatCount(uncounted_))});
        if (unknownFrees_ > 0)
            trace_.health.push_back(
                {Severity::Info, HealthCode::FreesUnmatched,
                 fmt::format("{} frees of memory match no allocation in the trace (allocated outside the recording); "
                             "their sizes are missing from the memory in use.",
                             formatCount(unknownFrees_))});
        if (lostFrees_ > 0)
            trace_.health.push_back({Severity::Info, HealthCode::FreesMissing,
                                     fmt::format("{} allocations reuse an address that was not freed in the trace; the "
                                                 "earlier allocation counts as freed.",
                                                 formatCount(lostFrees_))});
    }

    Trace& trace_;
    std::unordered_map<AddressKey, uint32_t, AddressHash> live_;  ///< Rows of allocations.
    std::unordered_map<AddressKey, double, AddressHash> poolBytes_;
    std::map<CounterKey, GrowingCounter> counters_;
    int64_t unknownFrees_ = 0;
    int64_t lostFrees_ = 0;
    int64_t uncounted_ = 0;
};

/// Assigns rows to the samples of all counters. Removes counters without samples and counters that
/// would exceed the maximum length of a table.
void numberSamples(Trace& trace) {
    trace.counterRows.clear();
    uint64_t rows = 0;
    std::vector<CounterSeries> kept;
    for (CounterSeries& series : trace.counters) {
        if (series.isEmpty()) continue;
        if (rows + series.size() > EventRef::maxRow) {
            trace.health.push_back(
                {Severity::Warning, HealthCode::CounterLeftOut,
                 fmt::format("The counter \"{}\" has too many values to be shown next to the others.", series.name)});
            continue;
        }
        trace.counterRows.push_back(static_cast<uint32_t>(rows));
        rows += series.size();
        kept.push_back(std::move(series));
    }
    trace.counters = std::move(kept);
}

/// Matches recorded allocations and frees by process and address, adds counters of the memory in
/// use, and notes mismatches in the health. Requires sorted memory tables and known process ranges.
/// If stopped, memory is missing. O(n log n).
void buildMemory(Trace& trace, const std::stop_token& stop) {
    trace.allocations = tableIn<AllocationTable>(trace.memory.get());
    MemoryBuilder(trace).build(stop);
    numberSamples(trace);
}

/// Minimum launches for a statement about a clock.
constexpr int64_t minLaunches = 8;
/// A GPU starts at least one of many launches sooner than that.
constexpr int64_t maxDelayNs = 10'000'000'000;
/// A kernel that starts earlier than this before its launch shows that clocks disagree. Real clocks disagree by less.
constexpr int64_t maxLeadNs = 2'000'000;

/// Delays from the start of a launch to the start of its work, of one GPU.
struct Delays {
    int64_t count = 0, early = 0;
    int64_t minNs = std::numeric_limits<int64_t>::max(), maxNs = std::numeric_limits<int64_t>::min();

    void add(int64_t delayNs) {
        ++count;
        early += delayNs < -maxLeadNs ? 1 : 0;
        minNs = std::min(minNs, delayNs);
        maxNs = std::max(maxNs, delayNs);
    }
    bool isLate() const { return count >= minLaunches && minNs > maxDelayNs; }
    bool isEarly() const { return count >= minLaunches && 2 * early > count; }
};

void checkClocks(Trace& trace, const std::stop_token& stop) {
    std::vector<Delays> delays(trace.gpus.size());
    forEachLaunch(
        trace,
        [&](uint32_t call, EventRef work) {
            const uint32_t stream = streamOf(trace, work);
            if (stream == noIndex) return;
            delays[trace.streams[stream].gpu].add(trace.rangeOf(work).startNs - trace.apiCalls.startNs[call]);
        },
        stop);
    for (size_t index = 0; index < delays.size(); ++index) {
        const Delays& found = delays[index];
        Gpu& gpu = trace.gpus[index];
        gpu.isClockInconsistent = found.isLate() || found.isEarly();
        if (!gpu.isClockInconsistent) continue;
        const int64_t offsetNs = found.isLate() ? found.minNs : found.maxNs < 0 ? -found.maxNs : -found.minNs;
        trace.health.push_back({Severity::Warning,
                                HealthCode::GpuClockInconsistent,
                                fmt::format("GPU {}: the clocks of GPU and CPU do not agree. Its work starts {} {} {} "
                                            "its launches, so causes of its idle time are unknown.",
                                            gpu.id, found.isLate() || found.maxNs < 0 ? "at least" : "up to",
                                            formatDuration(offsetNs), found.isLate() ? "after" : "before"),
                                {},
                                {},
                                found.isLate() ? found.count : found.early});
    }
}

/// Notes of the recorder that explain missing work.
bool isExplained(const Trace& trace) {
    constexpr std::array reasons{HealthCode::NoCupti,      HealthCode::CuptiMissing, HealthCode::CuptiFailed,
                                 HealthCode::CuptiTaken,   HealthCode::CuptiYielded, HealthCode::CuptiSilent,
                                 HealthCode::CuptiKinds,   HealthCode::NoWindow,     HealthCode::BuffersExhausted,
                                 HealthCode::NoWindowCalls};
    return std::ranges::any_of(
        trace.health, [&](const HealthNote& note) { return std::ranges::find(reasons, note.code) != reasons.end(); });
}

/// Returns what to do to get the GPU work, by the recorder.
std::string_view remedyOf(const Trace& trace) {
    const auto isBy = [&](std::string_view name) { return trace.producer.find(name) != std::string::npos; };
    if (trace.producerKind == ProducerKind::Lanescope)
        return "\"lanescope doctor\" reports what keeps CUPTI from recording the GPU; then record again.";
    if (isBy("torch.profiler"))
        return "Record again with ProfilerActivity.CUDA, wait for the GPU before the profiler stops, and record fewer "
               "steps.";
    if (isBy("Nsight Systems"))
        return "Record again with nsys profile --trace=cuda, on Linux without WSL2, or with administrator rights "
               "within it.";
    if (isBy("nvprof")) return "Record again without --profile-api-trace none and --profile-from-start off.";
    if (isBy("RPD") || isBy("rocprof")) return "Record again with rocprofv3 --sys-trace.";
    return "Record again with a profiler that may record the GPU.";
}

/// Launches per process, of those without any work on a GPU. A call that failed launched nothing.
void checkWork(Trace& trace, const std::stop_token& stop) {
    std::vector<int64_t> launches(trace.processes.size());
    std::vector<bool> isKnown(trace.strings.size()), isLaunching(trace.strings.size());
    for (uint32_t row = 0; row < trace.apiCalls.size() && !isStopped(stop, row); ++row) {
        const StringIndex name = trace.apiCalls.name[row];
        if (!isKnown[name]) {
            isKnown[name] = true;
            isLaunching[name] = callClassOf(trace.strings.at(name)) == CallClass::Launch;
        }
        if (isLaunching[name] && trace.apiCalls.returnValue[row] == 0)
            ++launches[trace.threads[trace.apiCalls.thread[row]].process];
    }
    std::vector<bool> works(trace.processes.size());
    for (const auto* streams : {&trace.kernels.stream, &trace.graphs.stream})
        for (const uint32_t stream : *streams) works[trace.streams[stream].process] = true;
    const bool isAnyWork = std::ranges::find(works, true) != works.end();
    int64_t all = 0;
    for (size_t process = 0; process < launches.size(); ++process) {
        if (launches[process] < minLaunches || works[process]) continue;
        all += launches[process];
        if (isAnyWork)
            trace.health.push_back({Severity::Warning,
                                    HealthCode::GpuWorkMissing,
                                    fmt::format("Process {}: {} calls launched GPU work of which the file has no row.",
                                                trace.processes[process].pid, formatCount(launches[process])),
                                    trace.processes[process].globalPid,
                                    {},
                                    launches[process]});
    }
    if (!isAnyWork && all > 0)
        trace.health.push_back({Severity::Warning,
                                HealthCode::GpuWorkMissing,
                                fmt::format("{} call{} launched GPU work, but the file has no row of it. {}",
                                            formatCount(all), all == 1 ? "" : "s", remedyOf(trace)),
                                {},
                                {},
                                all});
}

/// Compares launches with their GPU work. Sets `Gpu::isClockInconsistent`. Notes GPUs with times that no launch
/// explains, and processes that launched work of which the trace has nothing. Requires sorted tables and links. O(n).
void checkLaunches(Trace& trace, const std::stop_token& stop) {
    checkClocks(trace, stop);
    if (trace.producerKind != ProducerKind::Lanescope || !isExplained(trace)) checkWork(trace, stop);
}

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

    void take(const auto& table, auto processOf) {
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
    nvtx.hasColors = std::ranges::any_of(nvtx.colorArgb, [](uint32_t color) { return color != 0; });
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

/// Assigns kernels their well-known short names (`knownKernelName`) and the operations of those that communicate
/// (`collectiveOperation`). O(launch configurations) and the length of their names. No other thread may read the names
/// meanwhile.
void nameKernels(Trace& trace) {
    struct Names {
        StringIndex shortName = 0, collective = 0;  // 0 for none
    };
    MixedMap<StringIndex, Names> known;  // by full name
    LaunchConfigColumn named;
    for (LaunchConfig config : trace.launchConfigs) {
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
        named.push_back(config);
    }
    trace.launchConfigs = std::move(named);
}

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
