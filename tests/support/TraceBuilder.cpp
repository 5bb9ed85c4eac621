#include "tests/support/TraceBuilder.h"

#include "model/format/GlobalId.h"
#include "model/build/finishTrace.h"

namespace lanescope {

TraceBuilder::TraceBuilder() : trace_(std::make_shared<Trace>()) {
    trace_->producer = "Simulated";
    addProcess(4242, "python3");
}

uint32_t TraceBuilder::addGpu(std::string gpuName, int smCount) {
    Gpu gpu;
    gpu.id = static_cast<int64_t>(trace_->gpus.size());
    gpu.name = std::move(gpuName);
    gpu.smCount = smCount;
    gpu.memoryBytes = int64_t{141} << 30;
    gpu.memoryBandwidthBytesPerSecond = 4'800'000'000'000;
    trace_->gpus.push_back(std::move(gpu));
    return static_cast<uint32_t>(trace_->gpus.size() - 1);
}

uint32_t TraceBuilder::addProcess(uint32_t pid, std::string processName, std::optional<int> rank) {
    Process process;
    process.globalPid = globalPid(pid);
    process.pid = pid;
    process.name = std::move(processName);
    process.rank = rank;
    trace_->processes.push_back(std::move(process));
    return static_cast<uint32_t>(trace_->processes.size() - 1);
}

uint32_t TraceBuilder::addThread(uint32_t process, uint32_t tid, std::string threadName) {
    trace_->threads.push_back(
        {globalTid(trace_->processes[process].pid, tid), tid, process, std::move(threadName)});
    return static_cast<uint32_t>(trace_->threads.size() - 1);
}

uint32_t TraceBuilder::addStream(uint32_t process, uint32_t gpu, int64_t streamId,
                                 bool isNullStream) {
    trace_->streams.push_back({process, gpu, 1, streamId, isNullStream});
    return static_cast<uint32_t>(trace_->streams.size() - 1);
}

uint32_t TraceBuilder::defaultThread() {
    return trace_->threads.empty() ? addThread(0, trace_->processes[0].pid, "python3") : 0;
}

uint32_t TraceBuilder::defaultStream() {
    if (!trace_->streams.empty()) return 0;
    if (trace_->gpus.empty()) addGpu();
    return addStream(0, 0, 7, true);
}

uint32_t TraceBuilder::configFor(std::string_view kernelName) {
    const auto found = configs_.find(kernelName);
    if (found != configs_.end()) return found->second;
    LaunchConfig config;
    config.shortName = trace_->strings.intern(kernelName);
    config.demangledName =
        trace_->strings.intern("void " + std::string(kernelName) + "<float>(float*, int)");
    config.mangledName = config.demangledName;
    config.grid = {256, 1, 1};
    config.block = {128, 1, 1};
    config.registersPerThread = 64;
    config.dynamicSharedBytes = 16384;
    const auto index = static_cast<uint32_t>(trace_->launchConfigs.size());
    trace_->launchConfigs.push_back(config);
    configs_.emplace(kernelName, index);
    return index;
}

EventRef TraceBuilder::addKernel(uint32_t stream, std::string_view kernelName, int64_t startNs,
                                 int64_t endNs, uint32_t correlation) {
    KernelTable& table = trace_->kernels;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.config.push_back(configFor(kernelName));
    table.stream.push_back(stream);
    table.correlation.push_back(correlation);
    table.graphNode.push_back(0);
    return {EventKind::Kernel, table.size() - 1};
}

EventRef TraceBuilder::addMemcpy(uint32_t stream, MemcpyKind kind, int64_t bytes, int64_t startNs,
                                 int64_t endNs, uint32_t correlation, MemoryKind source,
                                 MemoryKind destination) {
    MemcpyTable& table = trace_->memcpys;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.bytes.push_back(bytes);
    table.kind.push_back(kind);
    table.sourceMemory.push_back(source);
    table.destinationMemory.push_back(destination);
    table.sourceDevice.push_back(-1);
    table.destinationDevice.push_back(-1);
    table.stream.push_back(stream);
    table.correlation.push_back(correlation);
    return {EventKind::Memcpy, table.size() - 1};
}

EventRef TraceBuilder::addPeerCopy(uint32_t stream, uint32_t fromGpu, uint32_t toGpu, int64_t bytes,
                                   int64_t startNs, int64_t endNs) {
    const EventRef copy = addMemcpy(stream, MemcpyKind::PtoP, bytes, startNs, endNs, 0,
                                    MemoryKind::Device, MemoryKind::Device);
    trace_->memcpys.sourceDevice.set(copy.row(), static_cast<int16_t>(fromGpu));
    trace_->memcpys.destinationDevice.set(copy.row(), static_cast<int16_t>(toGpu));
    return copy;
}

EventRef TraceBuilder::addMigration(uint32_t stream, MemcpyKind kind, uint64_t address,
                                    int64_t bytes, int64_t startNs, int64_t endNs,
                                    MigrationCause cause) {
    const EventRef copy =
        addMemcpy(stream, kind, bytes, startNs, endNs, 0, MemoryKind::Managed, MemoryKind::Managed);
    trace_->migrations.memcpy.push_back(copy.row());
    trace_->migrations.address.push_back(address);
    trace_->migrations.cause.push_back(cause);
    return copy;
}

EventRef TraceBuilder::addMemset(uint32_t stream, int64_t bytes, int64_t startNs, int64_t endNs,
                                 uint32_t correlation) {
    MemsetTable& table = trace_->memsets;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.bytes.push_back(bytes);
    table.value.push_back(0);
    table.memory.push_back(MemoryKind::Device);
    table.stream.push_back(stream);
    table.correlation.push_back(correlation);
    return {EventKind::Memset, table.size() - 1};
}

EventRef TraceBuilder::addGraph(uint32_t stream, int64_t graph, int64_t startNs, int64_t endNs,
                                uint32_t correlation) {
    GraphTable& table = trace_->graphs;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.graph.push_back(graph);
    table.stream.push_back(stream);
    table.correlation.push_back(correlation);
    return {EventKind::Graph, table.size() - 1};
}

void TraceBuilder::addAllocation(uint32_t process, uint32_t gpu, MemoryKind kind, uint64_t address,
                                 int64_t bytes, int64_t timeNs) {
    MemoryEventTable& table = trace_->memoryEvents;
    table.timeNs.push_back(timeNs);
    table.bytes.push_back(bytes);
    table.address.push_back(address);
    table.kind.push_back(kind);
    table.isFree.push_back(0);
    table.isPooled.push_back(0);
    table.process.push_back(process);
    table.gpu.push_back(gpu);
    table.correlation.push_back(0);
}

void TraceBuilder::addFree(uint32_t process, uint32_t gpu, uint64_t address, int64_t timeNs) {
    addAllocation(process, gpu, MemoryKind::Unknown, address, 0, timeNs);
    trace_->memoryEvents.isFree.set(trace_->memoryEvents.isFree.size() - 1, 1);
}

EventRef TraceBuilder::addPageFault(uint32_t process, uint32_t gpu, uint64_t address, int64_t count,
                                    FaultAccess access, int64_t startNs, int64_t endNs) {
    PageFaultTable& table = trace_->pageFaults;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.address.push_back(address);
    table.count.push_back(count);
    table.access.push_back(access);
    table.process.push_back(process);
    table.gpu.push_back(gpu);
    table.instruction.push_back(gpu == noIndex ? trace_->strings.intern("0x4011f6") : 0);
    return {EventKind::PageFault, table.size() - 1};
}

void TraceBuilder::addWindow(uint32_t process, int64_t startNs, int64_t endNs) {
    trace_->processes[process].hasWindows = true;
    trace_->processes[process].windows.push_back({startNs, endNs});
}

void TraceBuilder::addGap(uint32_t process, Loss what, int64_t startNs, int64_t endNs,
                          int64_t count) {
    trace_->processes[process].gaps.push_back({what, {startNs, endNs}, count});
}

EventRef TraceBuilder::addApi(uint32_t thread, std::string_view callName, int64_t startNs,
                              int64_t endNs, uint32_t correlation) {
    ApiTable& table = trace_->apiCalls;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.name.push_back(trace_->strings.intern(callName));
    table.thread.push_back(thread);
    table.correlation.push_back(correlation);
    table.returnValue.push_back(0);
    table.isDriver.push_back(callName.starts_with("cuda") ? 0 : 1);
    return {EventKind::Api, table.size() - 1};
}

EventRef TraceBuilder::addSync(uint32_t stream, SyncType type, int64_t startNs, int64_t endNs,
                               uint32_t correlation) {
    SyncTable& table = trace_->syncs;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.type.push_back(type);
    table.stream.push_back(stream);
    table.process.push_back(trace_->streams[stream].process);
    table.correlation.push_back(correlation);
    return {EventKind::Sync, table.size() - 1};
}

EventRef TraceBuilder::addNvtx(uint32_t thread, std::string_view text, int64_t startNs,
                               int64_t endNs, NvtxStyle style, std::string_view domain) {
    NvtxTable& table = trace_->nvtx;
    table.startNs.push_back(startNs);
    table.endNs.push_back(endNs);
    table.text.push_back(trace_->strings.intern(text));
    table.domain.push_back(trace_->strings.intern(domain));
    table.category.push_back(0);
    table.colorArgb.push_back(0);
    table.thread.push_back(thread);
    table.depth.push_back(0);
    table.style.push_back(style);
    table.isOpen.push_back(0);
    table.payload.push_back(0);
    return {EventKind::Nvtx, table.size() - 1};
}

EventRef TraceBuilder::addNccl(uint32_t thread, std::string_view operation, int64_t bytes,
                               int64_t startNs, int64_t endNs, uint64_t communicator) {
    const EventRef range = addNvtx(thread, "nccl" + std::string(operation), startNs, endNs,
                                   NvtxStyle::PushPop, "NCCL");
    trace_->nccl.nvtx.push_back(range.row());
    trace_->nccl.operation.push_back(trace_->strings.intern(operation));
    trace_->nccl.bytes.push_back(bytes);
    trace_->nccl.communicator.push_back(communicator);
    trace_->nccl.facts.push_back(NcclFacts());
    return range;
}

EventRef TraceBuilder::launch(uint32_t thread, uint32_t stream, std::string_view kernelName,
                              int64_t callStartNs, int64_t startNs, int64_t endNs) {
    const uint32_t correlation = nextCorrelation_++;
    addApi(thread, "cudaLaunchKernel", callStartNs, std::min(callStartNs + 4'000, startNs),
           correlation);
    return addKernel(stream, kernelName, startNs, endNs, correlation);
}

TracePtr TraceBuilder::finish(std::string title) {
    trace_->title = std::move(title);
    trace_->counts = {{"kernels", trace_->kernels.size(), 0},
                      {"memcpys", trace_->memcpys.size(), 0},
                      {"memsets", trace_->memsets.size(), 0},
                      {"CUDA API calls", trace_->apiCalls.size(), 0},
                      {"NVTX events", trace_->nvtx.size(), 0}};
    finishTrace(*trace_);
    return std::move(trace_);
}

}  // namespace lanescope
