// SPDX-License-Identifier: Apache-2.0
#include "tests/support/SimulatedTrace.h"

#include <algorithm>

#include "model/format/GlobalId.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

SimulatedTrace::SimulatedTrace() {
    description().producer = "Simulated";
    addProcess(4242, "python3");
}

uint32_t SimulatedTrace::addGpu(std::string gpuName, int smCount) {
    const uint32_t index = gpu(static_cast<int64_t>(gpus().size()));
    Gpu& added = gpus()[index];
    added.name = std::move(gpuName);
    added.smCount = smCount;
    added.memoryBytes = int64_t{141} << 30;
    added.memoryBandwidthBytesPerSecond = 4'800'000'000'000;
    return index;
}

uint32_t SimulatedTrace::addProcess(uint32_t pid, std::string processName, std::optional<int> rank) {
    const uint32_t index = process(globalPid(pid));
    processes()[index].name = std::move(processName);
    processes()[index].rank = rank;
    return index;
}

uint32_t SimulatedTrace::addThread(uint32_t process, uint32_t tid, std::string threadName) {
    const int64_t id = globalTid(processes()[process].pid, tid);
    nameThread(id, threadName);
    return thread(id);
}

uint32_t SimulatedTrace::addStream(uint32_t process, uint32_t gpu, int64_t streamId, bool isNullStream) {
    const uint32_t index = stream(process, gpu, 1, streamId);
    streams()[index].isNullStream = isNullStream;
    return index;
}

uint32_t SimulatedTrace::defaultThread() {
    return trace().threads.empty() ? addThread(0, processes()[0].pid, "python3") : 0;
}

uint32_t SimulatedTrace::defaultStream() {
    if (!streams().empty()) return 0;
    if (gpus().empty()) addGpu();
    return addStream(0, 0, 7, true);
}

uint32_t SimulatedTrace::launchOf(std::string_view kernelName) {
    LaunchConfig launch;
    launch.shortName = intern(kernelName);
    launch.demangledName = intern("void " + std::string(kernelName) + "<float>(float*, int)");
    launch.mangledName = launch.demangledName;
    launch.grid = {256, 1, 1};
    launch.block = {128, 1, 1};
    launch.registersPerThread = 64;
    launch.dynamicSharedBytes = 16384;
    return launchConfig(launch);
}

EventRef SimulatedTrace::addKernel(uint32_t stream, std::string_view kernelName, int64_t startNs, int64_t endNs,
                                   uint32_t correlation) {
    return add<kinds::Kernel>({.startNs = startNs,
                               .endNs = endNs,
                               .stream = stream,
                               .correlation = correlation,
                               .config = launchOf(kernelName)});
}

EventRef SimulatedTrace::addMemcpy(uint32_t stream, MemcpyKind kind, int64_t bytes, int64_t startNs, int64_t endNs,
                                   uint32_t correlation, MemoryKind source, MemoryKind destination) {
    return add<kinds::Memcpy>({.startNs = startNs,
                               .endNs = endNs,
                               .bytes = bytes,
                               .kind = kind,
                               .sourceMemory = source,
                               .destinationMemory = destination,
                               .stream = stream,
                               .correlation = correlation});
}

EventRef SimulatedTrace::addPeerCopy(uint32_t stream, uint32_t fromGpu, uint32_t toGpu, int64_t bytes, int64_t startNs,
                                     int64_t endNs) {
    return add<kinds::Memcpy>({.startNs = startNs,
                               .endNs = endNs,
                               .bytes = bytes,
                               .kind = MemcpyKind::PtoP,
                               .sourceMemory = MemoryKind::Device,
                               .destinationMemory = MemoryKind::Device,
                               .sourceGpu = fromGpu,
                               .destinationGpu = toGpu,
                               .stream = stream});
}

EventRef SimulatedTrace::addMigration(uint32_t stream, MemcpyKind kind, uint64_t address, int64_t bytes,
                                      int64_t startNs, int64_t endNs, MigrationCause cause) {
    return add<kinds::Memcpy>({.startNs = startNs,
                               .endNs = endNs,
                               .bytes = bytes,
                               .kind = kind,
                               .sourceMemory = MemoryKind::Managed,
                               .destinationMemory = MemoryKind::Managed,
                               .stream = stream,
                               .address = address,
                               .cause = cause});
}

EventRef SimulatedTrace::addMemset(uint32_t stream, int64_t bytes, int64_t startNs, int64_t endNs,
                                   uint32_t correlation) {
    return add<kinds::Memset>({.startNs = startNs,
                               .endNs = endNs,
                               .bytes = bytes,
                               .memory = MemoryKind::Device,
                               .stream = stream,
                               .correlation = correlation});
}

EventRef SimulatedTrace::addGraph(uint32_t stream, int64_t number, int64_t startNs, int64_t endNs,
                                  uint32_t correlation) {
    return add<kinds::Graph>(
        {.startNs = startNs, .endNs = endNs, .graph = number, .stream = stream, .correlation = correlation});
}

void SimulatedTrace::addAllocation(uint32_t process, uint32_t gpu, MemoryKind kind, uint64_t address, int64_t bytes,
                                   int64_t timeNs) {
    add<kinds::MemoryEvent>(
        {.timeNs = timeNs, .bytes = bytes, .address = address, .kind = kind, .process = process, .gpu = gpu});
}

void SimulatedTrace::addFree(uint32_t process, uint32_t gpu, uint64_t address, int64_t timeNs) {
    add<kinds::MemoryEvent>({.timeNs = timeNs, .address = address, .isFree = true, .process = process, .gpu = gpu});
}

EventRef SimulatedTrace::addPageFault(uint32_t process, uint32_t gpu, uint64_t address, int64_t count,
                                      FaultAccess access, int64_t startNs, int64_t endNs) {
    return add<kinds::PageFault>({.startNs = startNs,
                                  .endNs = endNs,
                                  .address = address,
                                  .count = count,
                                  .access = access,
                                  .process = process,
                                  .gpu = gpu,
                                  .instruction = gpu == noIndex ? intern("0x4011f6") : 0});
}

void SimulatedTrace::addWindow(uint32_t process, int64_t startNs, int64_t endNs) {
    processes()[process].hasWindows = true;
    processes()[process].windows.push_back({startNs, endNs});
}

void SimulatedTrace::addGap(uint32_t process, Loss what, int64_t startNs, int64_t endNs, int64_t count) {
    processes()[process].gaps.push_back({what, {startNs, endNs}, count});
}

EventRef SimulatedTrace::addApi(uint32_t thread, std::string_view callName, int64_t startNs, int64_t endNs,
                                uint32_t correlation, uint32_t stack) {
    return add<kinds::Api>({.startNs = startNs,
                            .endNs = endNs,
                            .name = intern(callName),
                            .thread = thread,
                            .correlation = correlation,
                            .isDriver = !callName.starts_with("cuda"),
                            .stack = stack});
}

uint32_t SimulatedTrace::frame(std::string_view function, std::string_view file, uint32_t line, uint32_t outer) {
    return stack(outer, intern(function), intern(file), line);
}

EventRef SimulatedTrace::addSync(uint32_t stream, SyncType type, int64_t startNs, int64_t endNs, uint32_t correlation) {
    return add<kinds::Sync>({.startNs = startNs,
                             .endNs = endNs,
                             .type = type,
                             .stream = stream,
                             .process = streams()[stream].process,
                             .correlation = correlation});
}

EventRef SimulatedTrace::addNvtx(uint32_t thread, std::string_view text, int64_t startNs, int64_t endNs,
                                 NvtxStyle style, std::string_view domain) {
    return add<kinds::Nvtx>({.startNs = startNs,
                             .endNs = endNs,
                             .text = intern(text),
                             .domain = intern(domain),
                             .thread = thread,
                             .style = style});
}

EventRef SimulatedTrace::addOpenNvtx(uint32_t thread, std::string_view text, int64_t startNs) {
    return add<kinds::Nvtx>({.startNs = startNs, .text = intern(text), .thread = thread, .isOpen = true});
}

EventRef SimulatedTrace::addNccl(uint32_t thread, std::string_view operation, int64_t bytes, int64_t startNs,
                                 int64_t endNs, uint64_t communicator, const NcclFacts& facts) {
    const EventRef range = addNvtx(thread, "nccl" + std::string(operation), startNs, endNs, NvtxStyle::PushPop, "NCCL");
    nccl(range, {.operation = intern(operation), .bytes = bytes, .communicator = communicator, .facts = facts});
    return range;
}

EventRef SimulatedTrace::launch(uint32_t thread, uint32_t stream, std::string_view kernelName, int64_t callStartNs,
                                int64_t startNs, int64_t endNs) {
    const uint32_t correlation = nextCorrelation_++;
    addApi(thread, "cudaLaunchKernel", callStartNs, std::min(callStartNs + 4'000, startNs), correlation);
    return addKernel(stream, kernelName, startNs, endNs, correlation);
}

TracePtr SimulatedTrace::finish(std::string title) {
    description().title = std::move(title);
    count("kernels", trace().kernels.size(), 0);
    count("memcpys", int64_t{trace().memcpys.size()} - trace().migrations.size(), 0);
    count("memsets", trace().memsets.size(), 0);
    count("CUDA API calls", trace().apiCalls.size(), 0);
    count("NVTX events", trace().nvtx.size(), 0);
    TraceBuilder::finish();
    return take();
}

}  // namespace lanescope
