// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct ApiCalls : TableOf<ApiCalls> {
    constexpr ApiCalls() : TableOf("CUPTI_ACTIVITY_KIND_RUNTIME", "a CUDA API call", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it returned, ns"};
    Integer<"eventClass"> eventClass{this, "0 runtime, 1 driver; as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "the calling thread"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with its work on the GPU"};
    Integer<"nameId"> nameId{this,
                             "the function, in StringIds; may carry a version (cudaMemcpy_v3020), readers strip it"};
    Integer<"returnValue"> returnValue{this, "cudaError_t or CUresult; 0 is success"};
    OptionalInteger<"callchainId"> callchainId{
        this, "the Python stack of the call, in LANESCOPE_STACKS; NULL if it has none"};
};
inline constexpr ApiCalls apiCalls;

struct Overheads : TableOf<Overheads> {
    constexpr Overheads() : TableOf("CUPTI_ACTIVITY_KIND_OVERHEAD", "time the profiler itself cost", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"eventClass"> eventClass{this, "103; as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread; its thread id is 0 for none of the program's"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with an API call"};
    OptionalInteger<"nameId"> nameId{this, "what it was, in StringIds"};
    Integer<"overheadType"> overheadType{this, "as ENUM_CUPTI_OVERHEAD_TYPE"};
};
inline constexpr Overheads overheads;

struct Kernels : TableOf<Kernels> {
    constexpr Kernels() : TableOf("CUPTI_ACTIVITY_KIND_KERNEL", "a kernel on the GPU", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "joins it with the API call of the same process that launched it"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"demangledName"> demangledName{this, "name with its parameters, in StringIds"};
    Integer<"shortName"> shortName{this, "name without parameters, in StringIds"};
    OptionalInteger<"mangledName"> mangledName{this, "name as the compiler wrote it, in StringIds"};
    OptionalInteger<"launchType"> launchType{this, "as ENUM_CUDA_KERNEL_LAUNCH_TYPE"};
    OptionalInteger<"cacheConfig"> cacheConfig{this, "as ENUM_CUDA_FUNC_CACHE_CONFIG"};
    Integer<"registersPerThread"> registersPerThread{this, "registers of each thread"};
    Integer<"gridX"> gridX{this, "blocks in x"};
    Integer<"gridY"> gridY{this, "blocks in y"};
    Integer<"gridZ"> gridZ{this, "blocks in z"};
    Integer<"blockX"> blockX{this, "threads of a block in x"};
    Integer<"blockY"> blockY{this, "threads of a block in y"};
    Integer<"blockZ"> blockZ{this, "threads of a block in z"};
    Integer<"staticSharedMemory"> staticSharedMemory{this, "of a block, bytes"};
    Integer<"dynamicSharedMemory"> dynamicSharedMemory{this, "of a block, bytes"};
    Integer<"localMemoryPerThread"> localMemoryPerThread{this, "bytes"};
    Integer<"localMemoryTotal"> localMemoryTotal{this, "of the whole kernel, bytes"};
    Integer<"gridId"> gridId{this, "the driver's number of the launch"};
    OptionalInteger<"sharedMemoryExecuted"> sharedMemoryExecuted{
        this, "shared memory that the driver set aside for a block, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"sharedMemoryLimitConfig"> sharedMemoryLimitConfig{this, "as ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG"};
    OptionalInteger<"qmdBulkReleaseDone"> qmdBulkReleaseDone{this, "not filled"};
    OptionalInteger<"qmdPreexitDone"> qmdPreexitDone{this, "not filled"};
    OptionalInteger<"qmdLastCtaDone"> qmdLastCtaDone{this, "not filled"};
    OptionalInteger<"graphId"> graphId{this, "CUPTI's number of that graph; NULL outside one"};
    OptionalInteger<"clusterX"> clusterX{this, "blocks of a cluster in x; 0 without clusters"};
    OptionalInteger<"clusterY"> clusterY{this, "blocks of a cluster in y"};
    OptionalInteger<"clusterZ"> clusterZ{this, "blocks of a cluster in z"};
    OptionalInteger<"clusterSchedulingPolicy"> clusterSchedulingPolicy{
        this, "CUDA's number of how clusters are spread over the SMs"};
    OptionalInteger<"maxPotentialClusterSize"> maxPotentialClusterSize{this, "blocks; not filled"};
    OptionalInteger<"maxActiveClusters"> maxActiveClusters{this, "not filled"};
    OptionalInteger<"sharedMemoryRequestedPercentage"> sharedMemoryRequestedPercentage{
        this, "share of the L1 cache that was asked for as shared memory, %"};
    OptionalText<"tensorSizeMinusOneElements"> tensorSizeMinusOneElements{this, "not filled"};
};
inline constexpr Kernels kernels;

struct Graphs : TableOf<Graphs> {
    constexpr Graphs()
        : TableOf("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                  "a launch of a CUDA graph that was recorded as a whole; its kernels have no rows", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "joins it with the API call of the same process that launched it"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"graphId"> graphId{this, "the same as graphExecId, for want of another"};
    Integer<"graphExecId"> graphExecId{this, "CUPTI's number of the graph"};
};
inline constexpr Graphs graphs;

struct GraphNodes : TableOf<GraphNodes> {
    constexpr GraphNodes()
        : TableOf("CUDA_GRAPH_NODE_EVENTS", "a node of a CUDA graph was made; recorded with Python stacks") {}

    /// Name of such an event in `StringIds`, and number of its class, as in Nsight Systems.
    static constexpr const char* eventName = "Graph Node Creation";
    static constexpr int nodeCreation = 77;

    Integer<"start"> start{this, "when, ns"};
    Integer<"end"> end{this, "the same"};
    Integer<"eventClass"> eventClass{this, "as ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread that made it"};
    Integer<"nameId"> nameId{this, "\"Graph Node Creation\", in StringIds"};
    Integer<"graphNodeId"> graphNodeId{this, "its number in its process, as in the kernels' table"};
    OptionalInteger<"originalGraphNodeId"> originalGraphNodeId{
        this,
        "the node of which it is a copy, as all nodes of a graph are that was made ready to run; "
        "NULL if it is none"};
};
inline constexpr GraphNodes graphNodes;

struct GraphNodeStacks : TableOf<GraphNodeStacks> {
    constexpr GraphNodeStacks() : TableOf("LANESCOPE_GRAPH_NODE_STACKS", "where a node of a CUDA graph was captured") {}

    Integer<"nodeRow"> nodeRow{this, "rowid of the node in CUDA_GRAPH_NODE_EVENTS"};
    Integer<"callchainId"> callchainId{this, "its Python stack, in LANESCOPE_STACKS"};
};
inline constexpr GraphNodeStacks graphNodeStacks;

struct Memcpys : TableOf<Memcpys> {
    constexpr Memcpys()
        : TableOf("CUPTI_ACTIVITY_KIND_MEMCPY",
                  "a copy, or a migration of managed memory, which belongs to no context, stream or "
                  "call",
                  Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context; 0 for a migration"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream; 0 for a migration"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process; NULL for a migration"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"copyKind"> copyKind{this, "as ENUM_CUDA_MEMCPY_OPER; 11, 12 and 13 are migrations of managed memory"};
    OptionalInteger<"deprecatedSrcId"> deprecatedSrcId{this, "not filled"};
    OptionalInteger<"srcKind"> srcKind{this, "memory copied from, as ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"dstKind"> dstKind{this, "memory copied to, as ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"srcDeviceId"> srcDeviceId{this,
                                               "CUDA ordinal of the GPU copied from, between GPUs; NULL: the host"};
    OptionalInteger<"srcContextId"> srcContextId{this, "the context copied from, between GPUs"};
    OptionalInteger<"dstDeviceId"> dstDeviceId{this, "CUDA ordinal of the GPU copied to, between GPUs; NULL: the host"};
    OptionalInteger<"dstContextId"> dstContextId{this, "the context copied to, between GPUs"};
    OptionalInteger<"migrationCause"> migrationCause{this, "of a migration, as ENUM_CUDA_UNIF_MEM_MIGRATION"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"virtualAddress"> virtualAddress{this, "where a migration began"};
    OptionalInteger<"copyCount"> copyCount{this, "not filled"};
};
inline constexpr Memcpys memcpys;

struct Memsets : TableOf<Memsets> {
    constexpr Memsets() : TableOf("CUPTI_ACTIVITY_KIND_MEMSET", "a memset", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"value"> value{this, "what the memory was set to"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"memKind"> memKind{this, "as ENUM_CUDA_MEM_KIND"};
};
inline constexpr Memsets memsets;

struct Syncs : TableOf<Syncs> {
    constexpr Syncs() : TableOf("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "a wait for the GPU", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process; -1 if unknown"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream; 4294967295: the whole context"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"deprecatedSyncType"> deprecatedSyncType{this, "not filled"};
    Integer<"syncType"> syncType{this, "as ENUM_CUPTI_SYNC_TYPE"};
    Integer<"eventId"> eventId{this, "CUPTI's number of the event waited for"};
    OptionalInteger<"eventSyncId"> eventSyncId{this, "which recording of that event"};
};
inline constexpr Syncs syncs;

struct CudaEvents : TableOf<CudaEvents> {
    constexpr CudaEvents()
        : TableOf("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "an event recorded in a stream", Content::Events) {}

    OptionalInteger<"timestamp"> timestamp{this, "when the GPU came to it, ns; NULL if it was not timed"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this, "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with the API call of the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"eventId"> eventId{this, "CUPTI's number of the event"};
    OptionalInteger<"eventSyncId"> eventSyncId{this, "which recording of that event"};
};
inline constexpr CudaEvents cudaEvents;

struct MemoryEvents : TableOf<MemoryEvents> {
    constexpr MemoryEvents()
        : TableOf("CUDA_GPU_MEMORY_USAGE_EVENTS",
                  "memory was allocated or freed; what was allocated at an address is freed by the "
                  "next event of the process that frees it",
                  Content::Events) {}

    Integer<"start"> start{this, "when, ns"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    Integer<"address"> address{this, "where it begins"};
    Integer<"pc"> pc{this, "address of the code that called"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"memKind"> memKind{this, "as ENUM_CUDA_MEM_KIND"};
    Integer<"memoryOperationType"> memoryOperationType{this, "as ENUM_CUDA_DEV_MEM_EVENT_OPER"};
    OptionalText<"name"> name{this, "of the variable, for what a module brings along"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with the API call of the same process"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"localMemoryPoolAddress"> localMemoryPoolAddress{
        this, "the pool of the process that it came from; NULL if from none"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{this,
                                                                                       "what that pool keeps, bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "size of that pool, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{this, "of it in use, bytes"};
    OptionalInteger<"importedMemoryPoolAddress"> importedMemoryPoolAddress{
        this, "the pool of another process that it came from; NULL if from none"};
    OptionalInteger<"importedMemoryPoolProcessId"> importedMemoryPoolProcessId{this, "that process, a plain PID"};
};
inline constexpr MemoryEvents memoryEvents;

struct PoolEvents : TableOf<PoolEvents> {
    constexpr PoolEvents()
        : TableOf("CUDA_GPU_MEMORY_POOL_EVENTS", "a memory pool was created, destroyed or trimmed", Content::Events) {}

    Integer<"start"> start{this, "when, ns"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "the pool"};
    Integer<"operationType"> operationType{this, "as ENUM_CUDA_MEMPOOL_OPER"};
    Integer<"poolType"> poolType{this, "as ENUM_CUDA_MEMPOOL_TYPE"};
    OptionalInteger<"correlationId"> correlationId{this, "joins it with the API call of the same process"};
    OptionalInteger<"minBytesToKeep"> minBytesToKeep{this, "what trimming was to leave, bytes"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{
        this, "what a pool of the process keeps, bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "its size, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{this, "of it in use, bytes"};
};
inline constexpr PoolEvents poolEvents;

/// Labels of page faults wherever they are counted. A row of GPU faults stands for as many faults as it states.
inline constexpr const char* cpuFaultsCounted = "CPU page faults";
inline constexpr const char* gpuFaultsCounted = "GPU page faults";

struct CpuPageFaults : TableOf<CpuPageFaults> {
    constexpr CpuPageFaults()
        : TableOf("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "the CPU missed a page of managed memory", Content::Events) {}

    OptionalInteger<"start"> start{this, "when, ns; NULL if it was not timed"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"address"> address{this, "the address that was missed"};
    OptionalInteger<"originalFaultPc"> originalFaultPc{this, "address of the instruction"};
    Integer<"CpuInstruction"> cpuInstruction{this, "address of the instruction as a string in StringIds, \"0x4011f6\""};
    OptionalInteger<"module"> module{this, "not filled; NOT NULL in the exports"};
    OptionalInteger<"unresolvedFaultPc"> unresolvedFaultPc{this, "1: no source is known of the instruction"};
    OptionalInteger<"sourceFile"> sourceFile{this, "not filled"};
    OptionalInteger<"sourceLine"> sourceLine{this, "not filled"};
};
inline constexpr CpuPageFaults cpuPageFaults;

struct GpuPageFaults : TableOf<GpuPageFaults> {
    constexpr GpuPageFaults()
        : TableOf("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "a GPU missed pages of managed memory", Content::Events) {}

    OptionalInteger<"start"> start{this, "when it began, ns; NULL if it was not timed"};
    OptionalInteger<"end"> end{this, "when it was served, ns; NULL if it was not timed"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "the address that was missed"};
    Integer<"numberOfPageFaults"> numberOfPageFaults{this, "groups of faults at the address"};
    Integer<"faultAccessType"> faultAccessType{this, "as ENUM_CUDA_UNIF_MEM_ACCESS_TYPE"};
};
inline constexpr GpuPageFaults gpuPageFaults;

}  // namespace lanescope::tables
