// SPDX-License-Identifier: Apache-2.0
#include "model/build/TraceBuilder.h"

#include <algorithm>
#include <array>

#include "model/build/finishTrace.h"
#include "model/build/noteWhatIsMissing.h"
#include "model/format/GlobalId.h"

namespace lanescope {

namespace {

constexpr size_t maxProcesses = 1 << 16;
constexpr size_t maxThreads = 1 << 16;
constexpr size_t maxStreams = 1 << 14;
constexpr size_t maxGpus = 1 << 10;
/// Times further than this from 0 are no nanoseconds of any clock; sums of two stay in range.
constexpr int64_t maxTimeNs = int64_t{1} << 61;

// What kinds of events are called where they are counted.
constexpr std::string_view kernels = "kernels", memcpys = "memcpys", memsets = "memsets",
                           graphs = "CUDA graph launches", pageFaults = "page faults",
                           memoryEvents = "memory events", apiCalls = "CUDA API calls",
                           syncs = "synchronizations", ranges = "NVTX events",
                           counters = "counter samples";

bool isTime(int64_t timeNs) {
    return timeNs >= -maxTimeNs && timeNs <= maxTimeNs;
}

/// Whether an event may stand in a table: its times are some, and there is room for it.
template <class Row, class Table>
bool isSound(const Row& row, const Table& table) {
    return isTime(row.startNs) && isTime(row.endNs) && row.startNs <= row.endNs &&
           table.size() < EventRef::maximumRow;
}

bool isMigration(MemcpyKind kind) {
    return kind == MemcpyKind::UvmHtoD || kind == MemcpyKind::UvmDtoH ||
           kind == MemcpyKind::UvmDtoD;
}

void replace(Column<StringIndex>& numbers, const std::vector<StringIndex>& names) {
    Column<StringIndex> named;
    for (const uint32_t number : numbers)
        named.push_back(number < names.size() ? names[number] : StringIndex{0});
    numbers = std::move(named);
}

}  // namespace

size_t TraceBuilder::StreamHash::operator()(const StreamKey& key) const {
    uint64_t hash = uint64_t{key.process} << 32 | key.gpu;
    for (const int64_t part : {key.context, key.stream})
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(hash ^ hash >> 32);
}

TraceBuilder::TraceBuilder() : trace_(new Trace()) {}

void TraceBuilder::setPath(const std::filesystem::path& path) {
    trace_->path = path;
    trace_->title = path.filename().string();
}

uint32_t TraceBuilder::gpu(int64_t id) {
    if (const auto found = gpus_.find(id); found != gpus_.end()) return found->second;
    if (trace_->gpus.size() >= maxGpus) return noIndex;
    const auto index = static_cast<uint32_t>(trace_->gpus.size());
    trace_->gpus.emplace_back().id = id;
    gpus_.emplace(id, index);
    return index;
}

uint32_t TraceBuilder::process(int64_t globalPid) {
    const int64_t id = processOf(globalPid);
    if (lastProcess_.first == id && lastProcess_.second != noIndex) return lastProcess_.second;
    auto found = processes_.find(id);
    if (found == processes_.end()) {
        if (trace_->processes.size() >= maxProcesses) return noIndex;
        Process& process = trace_->processes.emplace_back();
        process.globalPid = id;
        process.pid = processIdOf(id);
        const auto index = static_cast<uint32_t>(trace_->processes.size() - 1);
        found = processes_.emplace(id, index).first;
    }
    lastProcess_ = {id, found->second};
    return found->second;
}

uint32_t TraceBuilder::thread(int64_t globalTid) {
    if (lastThread_.first == globalTid && lastThread_.second != noIndex) return lastThread_.second;
    auto found = threads_.find(globalTid);
    if (found == threads_.end()) {
        const uint32_t owner = process(globalTid);
        if (owner == noIndex || trace_->threads.size() >= maxThreads) return noIndex;
        Thread& thread = trace_->threads.emplace_back();
        thread.globalTid = globalTid;
        thread.tid = threadIdOf(globalTid);
        thread.process = owner;
        const auto index = static_cast<uint32_t>(trace_->threads.size() - 1);
        found = threads_.emplace(globalTid, index).first;
    }
    lastThread_ = {globalTid, found->second};
    return found->second;
}

uint32_t TraceBuilder::stream(uint32_t process, uint32_t gpu, int64_t contextId, int64_t streamId) {
    const StreamKey key{process, gpu, contextId, streamId};
    if (lastStream_.first == key && lastStream_.second != noIndex) return lastStream_.second;
    auto found = streams_.find(key);
    if (found == streams_.end()) {
        if (!isProcess(process) || !isGpu(gpu) || trace_->streams.size() >= maxStreams)
            return noIndex;
        trace_->streams.push_back({process, gpu, contextId, streamId, false});
        const auto index = static_cast<uint32_t>(trace_->streams.size() - 1);
        found = streams_.emplace(key, index).first;
    }
    lastStream_ = {key, found->second};
    return found->second;
}

void TraceBuilder::nameProcess(int64_t globalPid, std::string_view name) {
    processNames_[processOf(globalPid)] = name;
}

void TraceBuilder::nameThread(int64_t globalTid, std::string_view name) {
    threadNames_[globalTid] = name;
}

EventRef TraceBuilder::refuse(std::string_view what) {
    skip(what, 1);
    return {};
}

EventRef TraceBuilder::kernel(const KernelRow& row) {
    KernelTable& table = trace_->kernels;
    if (!isSound(row, table) || !isStream(row.stream)) return refuse(kernels);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.config.push_back(configs_.indexOf(row.launch, trace_->launchConfigs));
    table.stream.push_back(row.stream);
    table.correlation.push_back(row.correlation);
    table.graphNode.push_back(row.graphNode);
    return {EventKind::Kernel, table.size() - 1};
}

int16_t TraceBuilder::deviceOf(uint32_t gpu) const {
    static_assert(maxGpus <= INT16_MAX);
    return isGpu(gpu) ? static_cast<int16_t>(gpu) : int16_t{-1};
}

EventRef TraceBuilder::memcpy(const MemcpyRow& row) {
    MemcpyTable& table = trace_->memcpys;
    if (!isSound(row, table) || !isStream(row.stream)) return refuse(memcpys);
    if (isMigration(row.kind)) {
        trace_->migrations.memcpy.push_back(table.size());
        trace_->migrations.address.push_back(row.address);
        trace_->migrations.cause.push_back(row.cause);
    }
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.bytes.push_back(row.bytes);
    table.kind.push_back(row.kind);
    table.sourceMemory.push_back(row.sourceMemory);
    table.destinationMemory.push_back(row.destinationMemory);
    table.sourceDevice.push_back(deviceOf(row.sourceGpu));
    table.destinationDevice.push_back(deviceOf(row.destinationGpu));
    table.stream.push_back(row.stream);
    table.correlation.push_back(row.correlation);
    return {EventKind::Memcpy, table.size() - 1};
}

EventRef TraceBuilder::memset(const MemsetRow& row) {
    MemsetTable& table = trace_->memsets;
    if (!isSound(row, table) || !isStream(row.stream)) return refuse(memsets);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.bytes.push_back(row.bytes);
    table.value.push_back(row.value);
    table.memory.push_back(row.memory);
    table.stream.push_back(row.stream);
    table.correlation.push_back(row.correlation);
    return {EventKind::Memset, table.size() - 1};
}

EventRef TraceBuilder::graph(const GraphRow& row) {
    GraphTable& table = trace_->graphs;
    if (!isSound(row, table) || !isStream(row.stream)) return refuse(graphs);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.graph.push_back(row.graph);
    table.stream.push_back(row.stream);
    table.correlation.push_back(row.correlation);
    return {EventKind::Graph, table.size() - 1};
}

EventRef TraceBuilder::pageFault(const PageFaultRow& row) {
    PageFaultTable& table = trace_->pageFaults;
    const bool isPlace = isProcess(row.process) && (row.gpu == noIndex || isGpu(row.gpu));
    if (!isSound(row, table) || !isPlace) return refuse(pageFaults);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.address.push_back(row.address);
    table.count.push_back(std::max<int64_t>(0, row.count));
    table.access.push_back(row.access);
    table.process.push_back(row.process);
    table.gpu.push_back(row.gpu);
    table.instruction.push_back(row.instruction);
    return {EventKind::PageFault, table.size() - 1};
}

EventRef TraceBuilder::api(const ApiRow& row) {
    ApiTable& table = trace_->apiCalls;
    if (!isSound(row, table) || !isThread(row.thread)) return refuse(apiCalls);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.name.push_back(row.name);
    table.thread.push_back(row.thread);
    table.correlation.push_back(row.correlation);
    table.returnValue.push_back(row.returnValue);
    table.isDriver.push_back(row.isDriver ? 1 : 0);
    return {EventKind::Api, table.size() - 1};
}

EventRef TraceBuilder::sync(const SyncRow& row) {
    SyncTable& table = trace_->syncs;
    const bool isPlace = isProcess(row.process) && (row.stream == noIndex || isStream(row.stream));
    if (!isSound(row, table) || !isPlace) return refuse(syncs);
    table.startNs.push_back(row.startNs);
    table.endNs.push_back(row.endNs);
    table.type.push_back(row.type);
    table.stream.push_back(row.stream);
    table.process.push_back(row.process);
    table.correlation.push_back(row.correlation);
    return {EventKind::Sync, table.size() - 1};
}

EventRef TraceBuilder::nvtx(const NvtxRow& row) {
    NvtxTable& table = trace_->nvtx;
    const TimeRange times{row.startNs, row.isOpen ? row.startNs : row.endNs};
    if (!isSound(times, table) || !isThread(row.thread)) return refuse(ranges);
    table.startNs.push_back(times.startNs);
    table.endNs.push_back(times.endNs);
    table.text.push_back(row.text);
    table.domain.push_back(row.domain);
    table.category.push_back(row.category);
    table.colorArgb.push_back(row.colorArgb);
    table.thread.push_back(row.thread);
    table.depth.push_back(0);  // `finishTrace` computes it
    table.style.push_back(row.style);
    table.isOpen.push_back(row.isOpen ? 1 : 0);
    table.payload.push_back(row.payload);
    return {EventKind::Nvtx, table.size() - 1};
}

void TraceBuilder::memoryEvent(const MemoryEventRow& row) {
    MemoryEventTable& table = trace_->memoryEvents;
    const bool isSound = isTime(row.timeNs) && table.size() < EventRef::maximumRow;
    if (!isSound || !isProcess(row.process) || !isGpu(row.gpu)) {
        refuse(memoryEvents);
        return;
    }
    table.timeNs.push_back(row.timeNs);
    table.bytes.push_back(row.bytes);
    table.address.push_back(row.address);
    table.kind.push_back(row.kind);
    table.isFree.push_back(row.isFree ? 1 : 0);
    table.isPooled.push_back(row.isPooled ? 1 : 0);
    table.process.push_back(row.process);
    table.gpu.push_back(row.gpu);
    table.correlation.push_back(row.correlation);
}

void TraceBuilder::memoryPool(const MemoryPoolRow& row) {
    MemoryPoolTable& table = trace_->memoryPools;
    const bool isSound = isTime(row.timeNs) && table.size() < EventRef::maximumRow;
    if (!isSound || !isProcess(row.process) || !isGpu(row.gpu)) {
        refuse(memoryEvents);
        return;
    }
    table.timeNs.push_back(row.timeNs);
    table.bytes.push_back(row.bytes);
    table.address.push_back(row.address);
    table.process.push_back(row.process);
    table.gpu.push_back(row.gpu);
}

void TraceBuilder::eventCall(const EventCallRow& row, EventCallTable& table) {
    // They are no events of the trace, so nobody is told.
    if (!isStream(row.stream) || table.size() >= EventRef::maximumRow) return;
    table.stream.push_back(row.stream);
    table.event.push_back(row.event);
    table.eventSync.push_back(row.eventSync);
    table.correlation.push_back(row.correlation);
}

void TraceBuilder::eventRecord(const EventCallRow& row) {
    eventCall(row, trace_->eventRecords);
}

void TraceBuilder::eventWait(const EventCallRow& row) {
    eventCall(row, trace_->eventWaits);
}

void TraceBuilder::nccl(EventRef range, const NcclRow& row) {
    if (range.kind() != EventKind::Nvtx || range.row() >= trace_->nvtx.size()) return;
    NcclTable& table = trace_->nccl;
    table.nvtx.push_back(range.row());
    table.operation.push_back(row.operation);
    table.bytes.push_back(row.bytes);
    table.communicator.push_back(row.communicator);
    table.facts.push_back(row.facts);
}

void TraceBuilder::amendNccl(uint32_t row, const NcclRow& better) {
    NcclTable& table = trace_->nccl;
    if (row >= table.size()) return;
    table.operation.set(row, better.operation);
    table.bytes.set(row, better.bytes);
    table.communicator.set(row, better.communicator);
    table.facts.set(row, better.facts);
}

void TraceBuilder::nameNvtx(const std::vector<StringIndex>& domains,
                            const std::vector<StringIndex>& categories) {
    replace(trace_->nvtx.domain, domains);
    replace(trace_->nvtx.category, categories);
}

void TraceBuilder::counter(CounterSeries series, CounterSamples samples) {
    if (samples.timesNs.empty()) return;
    CounterValues values = counterValues(std::move(samples));
    skipped_.addCounter(values);
    series.unit = values.unit;
    series.set(std::move(values.timesNs), std::move(values.values), values.endNs);
    counter(std::move(series));
}

void TraceBuilder::counter(CounterSeries series) {
    if (series.isEmpty()) return;
    const bool isPlace = (series.gpu == noIndex || isGpu(series.gpu)) &&
                         (series.process == noIndex || isProcess(series.process));
    if (isPlace)
        trace_->counters.push_back(std::move(series));
    else
        skip(counters, series.size());
}

void TraceBuilder::count(std::string name, int64_t total, int64_t untimed) {
    trace_->counts.push_back({std::move(name), total, untimed});
}

void TraceBuilder::giveNames() {
    for (Process& process : trace_->processes) {
        const auto found = processNames_.find(process.globalPid);
        if (process.name.empty() && found != processNames_.end()) process.name = found->second;
    }
    for (Thread& thread : trace_->threads) {
        const auto found = threadNames_.find(thread.globalTid);
        if (thread.name.empty() && found != threadNames_.end()) thread.name = found->second;
        Process& process = trace_->processes[thread.process];
        if (thread.tid == process.pid && process.name.empty()) process.name = thread.name;
    }
}

/// Kinds of which the format did not say how many there are.
void TraceBuilder::countTheUncounted() {
    const std::array<std::pair<std::string_view, uint32_t>, 9> kinds{{
        {kernels, trace_->kernels.size()},
        {memcpys, trace_->memcpys.size()},
        {memsets, trace_->memsets.size()},
        {graphs, trace_->graphs.size()},
        {memoryEvents, trace_->memoryEvents.size()},
        {pageFaults, trace_->pageFaults.size()},
        {apiCalls, trace_->apiCalls.size()},
        {syncs, trace_->syncs.size()},
        {ranges, trace_->nvtx.size()},
    }};
    for (const auto& kind : kinds) {
        const bool isCounted =
            std::any_of(trace_->counts.begin(), trace_->counts.end(),
                        [&kind](const EventCount& count) { return count.name == kind.first; });
        if (!isCounted && kind.second > 0) count(std::string(kind.first), kind.second, 0);
    }
}

bool TraceBuilder::finish(unsigned threads, const std::stop_token& stop) {
    giveNames();
    countTheUncounted();
    skipped_.note(trace_->health);
    noteWhatIsMissing(trace_->counts, trace_->processes, trace_->health);
    return finishTrace(*trace_, threads, stop);
}

}  // namespace lanescope
