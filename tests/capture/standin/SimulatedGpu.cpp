// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/SimulatedGpu.h"

#include <cupti.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace lanescope::standin {

namespace {

template <class Activity>
void placeInTime(Activity& activity, const TrainingPlan& plan, uint32_t correlation) {
    activity.start = static_cast<uint64_t>(plan.baseNs + plan.startOffsetNs(correlation));
    activity.end = activity.start + static_cast<uint64_t>(plan.durationNs(correlation));
}

template <class Activity>
void placeOnStream(Activity& activity, uint32_t correlation) {
    activity.contextId = 1;
    activity.streamId = TrainingPlan::stream(correlation);
    activity.correlationId = correlation;
}

}  // namespace

void SimulatedGpu::initializeDriver() {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path) return;
    void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    if (auto* initialize = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))) {
        initialize();
    }
}

void SimulatedGpu::begin(const std::string& path, const TrainingPlan& plan) {
    plan_ = plan;
    void* library = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    simulateRecord_ = reinterpret_cast<SimulateRecordFunction*>(::dlsym(library, "simulateRecord"));
    simulateDriverCall_ = reinterpret_cast<SimulateDriverCallFunction*>(::dlsym(library, "simulateDriverCall"));
    if (auto* context = reinterpret_cast<SimulateContextFunction*>(::dlsym(library, "simulateContext"))) {
        context();
    }
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.globalMemorySize = uint64_t{80} << 30;
    device.globalMemoryBandwidth = 3'350'000'000;
    device.numMultiprocessors = 132;
    device.computeCapabilityMajor = 9;
    device.name = "Simulated GPU";
    std::memcpy(device.uuid.bytes, "SIMULATED-GPU-00", 16);
    emit(device);
    CUpti_ActivityContext3 context{};
    context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    context.contextId = 1;
    context.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
    context.nullStreamId = 7;
    emit(context);
    for (int thread = 0; thread < plan.threads; ++thread) {
        CUpti_ActivityStream stream{};
        stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
        stream.contextId = 1;
        stream.streamId = plan.stream(plan.correlation(thread, 0, 0));
        stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
        emit(stream);
    }
}

void SimulatedGpu::emitCall(uint32_t correlation, uint32_t callbackId, bool isDriver) const {
    CUpti_ActivityAPI call{};
    call.kind = isDriver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = callbackId;
    placeInTime(call, plan_, correlation);
    call.start -= 1'000;  // a call begins before its work
    call.end = call.start + 400;
    call.processId = static_cast<uint32_t>(::getpid());
    call.threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
    call.correlationId = correlation;
    emit(call);
}

void SimulatedGpu::callDriver(uint32_t callbackId, uint32_t correlation, const void* parameters) const {
    if (simulateDriverCall_) simulateDriverCall_(callbackId, correlation, parameters);
}

void SimulatedGpu::launchKernel(uint32_t correlation, bool alsoDriverCall) const {
    emitCall(correlation, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, false);
    if (alsoDriverCall) emitCall(correlation, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, true);
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation);
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    placeInTime(kernel, plan_, correlation);
    placeOnStream(kernel, correlation);
    kernel.name = kernelName(correlation);
    kernel.gridX = 132;
    kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = 256;
    kernel.blockY = kernel.blockZ = 1;
    kernel.registersPerThread = 64;
    kernel.isDeviceLaunched = 0;
    emit(kernel);
}

void SimulatedGpu::launchUntimedKernel(uint32_t correlation) const {
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    placeOnStream(kernel, correlation);
    kernel.name = "simulated_untimed";
    emit(kernel);
}

void SimulatedGpu::copy(uint32_t correlation, bool toDevice) const {
    emitCall(correlation, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, false);
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, correlation);
    CUpti_ActivityMemcpy6 memcpy{};
    memcpy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    placeInTime(memcpy, plan_, correlation);
    placeOnStream(memcpy, correlation);
    memcpy.copyKind = toDevice ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    memcpy.srcKind = toDevice ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memcpy.dstKind = toDevice ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE : CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    memcpy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    memcpy.bytes = copyBytes;
    emit(memcpy);
}

void SimulatedGpu::clear(uint32_t correlation) const {
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, correlation);
    CUpti_ActivityMemset4 memset{};
    memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    placeInTime(memset, plan_, correlation);
    placeOnStream(memset, correlation);
    memset.bytes = copyBytes;
    memset.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    emit(memset);
}

void SimulatedGpu::wait(uint32_t correlation) const {
    cuStreamSynchronize_params with{
        reinterpret_cast<CUstream>(static_cast<uintptr_t>(TrainingPlan::stream(correlation)))};
    callDriver(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, correlation, &with);
    CUpti_ActivitySynchronization2 wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    placeInTime(wait, plan_, correlation);
    placeOnStream(wait, correlation);
    emit(wait);
}

void SimulatedGpu::emitRareRecords() const {
    const auto startNs = static_cast<uint64_t>(plan_.baseNs);
    CUpti_ActivityOverhead3 overhead{};
    overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE;
    overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    overhead.objectId.pt.threadId = 77;
    overhead.start = startNs;
    overhead.end = startNs + 10;
    overhead.correlationId = rareCorrelation;
    emit(overhead);
    CUpti_ActivityGraphTrace2 graph{};
    graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    graph.correlationId = rareCorrelation + 1;
    graph.start = startNs;
    graph.end = startNs + 20;
    graph.graphId = 3;
    graph.contextId = 1;
    graph.streamId = 7;
    emit(graph);
    CUpti_ActivityMemory4 memory{};
    memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.correlationId = rareCorrelation + 2;
    memory.address = 0x7000;
    memory.bytes = copyBytes;
    memory.timestamp = startNs;
    memory.isAsync = 1;
    memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    memory.memoryPoolConfig.address = 0x9000;
    memory.memoryPoolConfig.pool.size = 5;
    memory.memoryPoolConfig.utilizedSize = 4;
    emit(memory);
    CUpti_ActivityMemoryPool3 pool{};
    pool.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
    pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    pool.correlationId = rareCorrelation + 3;
    pool.address = 0x9000;
    pool.minBytesToKeep = 2;
    pool.size = 5;
    pool.utilizedSize = 4;
    pool.timestamp = startNs;
    emit(pool);
    CUpti_ActivityUnifiedMemoryCounter3 counter{};
    counter.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
    counter.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
    counter.value = 65'536;
    counter.start = startNs;
    counter.end = startNs + 30;
    counter.address = 0x8000;
    counter.srcId = 0xffffffff;
    emit(counter);
    emit(CUpti_ActivityJit2{.kind = CUPTI_ACTIVITY_KIND_JIT});
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = startNs;
    kernel.end = startNs + 40;
    kernel.correlationId = rareCorrelation + 4;
    kernel.graphNodeId = 12;
    emit(kernel);
}

void SimulatedGpu::askForDevice() const {
    emitCall(TrainingPlan::correlationsPerThread - 1, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, false);
}

}  // namespace lanescope::standin
