// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

inline constexpr struct ApiCalls : TableOf<ApiCalls> {
    constexpr ApiCalls() : TableOf("CUPTI_ACTIVITY_KIND_RUNTIME", "a CUDA API call", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "time of return, ns"};
    Integer<"eventClass"> eventClass{this, "API, as in ENUM_NSYS_EVENT_CLASS (0: runtime, 1: driver)"};
    OptionalInteger<"globalTid"> globalTid{this, "packed id of the calling thread"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the GPU work of the call"};
    Integer<"nameId"> nameId{
        this, "function name, in StringIds; a version suffix (cudaMemcpy_v3020) is possible and stripped by readers"};
    Integer<"returnValue"> returnValue{this, "cudaError_t or CUresult; 0: success"};
    OptionalInteger<"callchainId"> callchainId{this,
                                               "Python stack of the call, in LANESCOPE_STACKS; NULL without a stack"};
} apiCalls;

inline constexpr struct Overheads : TableOf<Overheads> {
    constexpr Overheads()
        : TableOf("CUPTI_ACTIVITY_KIND_OVERHEAD", "an interval of profiler overhead", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"eventClass"> eventClass{this, "always 103, as in ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "packed thread id; thread number 0 for threads outside the program"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of an API call"};
    OptionalInteger<"nameId"> nameId{this, "name of the overhead, in StringIds"};
    Integer<"overheadType"> overheadType{this, "kind of overhead, as in ENUM_CUPTI_OVERHEAD_TYPE"};
} overheads;

inline constexpr struct Kernels : TableOf<Kernels> {
    constexpr Kernels() : TableOf("CUPTI_ACTIVITY_KIND_KERNEL", "a GPU kernel", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "correlation id of the launching API call in the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    Integer<"demangledName"> demangledName{this, "name with parameters, in StringIds"};
    Integer<"shortName"> shortName{this, "name without parameters, in StringIds"};
    OptionalInteger<"mangledName"> mangledName{this, "mangled name from the compiler, in StringIds"};
    OptionalInteger<"launchType"> launchType{this, "kind of launch, as in ENUM_CUDA_KERNEL_LAUNCH_TYPE"};
    OptionalInteger<"cacheConfig"> cacheConfig{this, "cache preference, as in ENUM_CUDA_FUNC_CACHE_CONFIG"};
    Integer<"registersPerThread"> registersPerThread{this, "registers per thread"};
    Integer<"gridX"> gridX{this, "grid size in x, blocks"};
    Integer<"gridY"> gridY{this, "grid size in y, blocks"};
    Integer<"gridZ"> gridZ{this, "grid size in z, blocks"};
    Integer<"blockX"> blockX{this, "block size in x, threads"};
    Integer<"blockY"> blockY{this, "block size in y, threads"};
    Integer<"blockZ"> blockZ{this, "block size in z, threads"};
    Integer<"staticSharedMemory"> staticSharedMemory{this, "static shared memory per block, bytes"};
    Integer<"dynamicSharedMemory"> dynamicSharedMemory{this, "dynamic shared memory per block, bytes"};
    Integer<"localMemoryPerThread"> localMemoryPerThread{this, "local memory per thread, bytes"};
    Integer<"localMemoryTotal"> localMemoryTotal{this, "local memory of the whole kernel, bytes"};
    Integer<"gridId"> gridId{this, "launch id from the driver"};
    OptionalInteger<"sharedMemoryExecuted"> sharedMemoryExecuted{
        this, "shared memory per block reserved by the driver, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "id of the launching CUDA graph node; NULL without a graph"};
    OptionalInteger<"sharedMemoryLimitConfig"> sharedMemoryLimitConfig{
        this, "limit of shared memory, as in ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG"};
    OptionalInteger<"qmdBulkReleaseDone"> qmdBulkReleaseDone{this, "NULL in Lanescope traces"};
    OptionalInteger<"qmdPreexitDone"> qmdPreexitDone{this, "NULL in Lanescope traces"};
    OptionalInteger<"qmdLastCtaDone"> qmdLastCtaDone{this, "NULL in Lanescope traces"};
    OptionalInteger<"graphId"> graphId{this, "CUPTI id of the launching CUDA graph; NULL without a graph"};
    OptionalInteger<"clusterX"> clusterX{this, "cluster size in x, blocks; 0 without clusters"};
    OptionalInteger<"clusterY"> clusterY{this, "cluster size in y, blocks"};
    OptionalInteger<"clusterZ"> clusterZ{this, "cluster size in z, blocks"};
    OptionalInteger<"clusterSchedulingPolicy"> clusterSchedulingPolicy{
        this, "CUDA number of the policy for distributing clusters over SMs"};
    OptionalInteger<"maxPotentialClusterSize"> maxPotentialClusterSize{
        this, "cluster size limit, blocks; NULL in Lanescope traces"};
    OptionalInteger<"maxActiveClusters"> maxActiveClusters{this, "NULL in Lanescope traces"};
    OptionalInteger<"sharedMemoryRequestedPercentage"> sharedMemoryRequestedPercentage{
        this, "share of the L1 cache requested as shared memory, %"};
    OptionalText<"tensorSizeMinusOneElements"> tensorSizeMinusOneElements{this, "NULL in Lanescope traces"};
} kernels;

inline constexpr struct Graphs : TableOf<Graphs> {
    constexpr Graphs()
        : TableOf("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                  "a launch of a CUDA graph recorded as a whole; the kernels of the graph have no rows",
                  Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"correlationId"> correlationId{this,
                                                   "correlation id of the launching API call in the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    Integer<"graphId"> graphId{this, "same as graphExecId, since CUPTI does not report the source graph"};
    Integer<"graphExecId"> graphExecId{this, "CUPTI id of the executable graph"};
} graphs;

inline constexpr struct GraphNodes : TableOf<GraphNodes> {
    constexpr GraphNodes()
        : TableOf("CUDA_GRAPH_NODE_EVENTS", "the creation of a CUDA graph node; recorded only with Python stacks") {}

    /// Event name in `StringIds`, and number of the event class, as in Nsight Systems.
    static constexpr const char* eventName = "Graph Node Creation";
    static constexpr int nodeCreation = 77;

    Integer<"start"> start{this, "creation time, ns"};
    Integer<"end"> end{this, "same as start"};
    Integer<"eventClass"> eventClass{this, "event class, as in ENUM_NSYS_EVENT_CLASS"};
    OptionalInteger<"globalTid"> globalTid{this, "packed id of the creating thread"};
    Integer<"nameId"> nameId{this, "always \"Graph Node Creation\", in StringIds"};
    Integer<"graphNodeId"> graphNodeId{this, "node id within the process, as in CUPTI_ACTIVITY_KIND_KERNEL"};
    OptionalInteger<"originalGraphNodeId"> originalGraphNodeId{
        this, "id of the copied node, for nodes of an instantiated (executable) graph; NULL if not a copy"};
} graphNodes;

inline constexpr struct GraphNodeStacks : TableOf<GraphNodeStacks> {
    constexpr GraphNodeStacks()
        : TableOf("LANESCOPE_GRAPH_NODE_STACKS", "the Python stack at the capture of a CUDA graph node") {}
    Integer<"nodeRow"> nodeRow{this, "rowid of the node in CUDA_GRAPH_NODE_EVENTS"};
    Integer<"callchainId"> callchainId{this, "Python stack, in LANESCOPE_STACKS"};
} graphNodeStacks;

inline constexpr struct Memcpys : TableOf<Memcpys> {
    constexpr Memcpys()
        : TableOf("CUPTI_ACTIVITY_KIND_MEMCPY",
                  "a copy, or a migration of managed memory (without context, stream and API call)", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id; 0 for a migration"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id; 0 for a migration"};
    OptionalInteger<"correlationId"> correlationId{
        this, "correlation id of the API call in the same process; NULL for a migration"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"copyKind"> copyKind{
        this, "kind of copy, as in ENUM_CUDA_MEMCPY_OPER; 11, 12 and 13: migration of managed memory"};
    OptionalInteger<"deprecatedSrcId"> deprecatedSrcId{this, "NULL in Lanescope traces"};
    OptionalInteger<"srcKind"> srcKind{this, "source memory kind, as in ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"dstKind"> dstKind{this, "destination memory kind, as in ENUM_CUDA_MEM_KIND"};
    OptionalInteger<"srcDeviceId"> srcDeviceId{this,
                                               "CUDA ordinal of the source GPU, for copies between GPUs; NULL: host"};
    OptionalInteger<"srcContextId"> srcContextId{this, "source context id, for copies between GPUs"};
    OptionalInteger<"dstDeviceId"> dstDeviceId{
        this, "CUDA ordinal of the destination GPU, for copies between GPUs; NULL: host"};
    OptionalInteger<"dstContextId"> dstContextId{this, "destination context id, for copies between GPUs"};
    OptionalInteger<"migrationCause"> migrationCause{
        this, "cause of a migration, as in ENUM_CUDA_UNIF_MEM_MIGRATION; NULL for a copy"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "id of the launching CUDA graph node; NULL without a graph"};
    OptionalInteger<"virtualAddress"> virtualAddress{this, "start address of a migration; NULL for a copy"};
    OptionalInteger<"copyCount"> copyCount{this, "NULL in Lanescope traces"};
} memcpys;

inline constexpr struct Memsets : TableOf<Memsets> {
    constexpr Memsets() : TableOf("CUPTI_ACTIVITY_KIND_MEMSET", "a memset", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the API call in the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    Integer<"value"> value{this, "value written to memory"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{this, "id of the launching CUDA graph node; NULL without a graph"};
    OptionalInteger<"memKind"> memKind{this, "memory kind, as in ENUM_CUDA_MEM_KIND"};
} memsets;

inline constexpr struct Syncs : TableOf<Syncs> {
    constexpr Syncs() : TableOf("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "a CUDA synchronization", Content::Events) {}
    Integer<"start"> start{this, "start time, ns"};
    Integer<"end"> end{this, "end time, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process; -1 if unknown"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id; 4294967295: whole context"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the API call in the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"deprecatedSyncType"> deprecatedSyncType{this, "NULL in Lanescope traces"};
    Integer<"syncType"> syncType{this, "kind of synchronization, as in ENUM_CUPTI_SYNC_TYPE"};
    Integer<"eventId"> eventId{this, "CUPTI id of the awaited event; 4294967295 or -1 without an event"};
    OptionalInteger<"eventSyncId"> eventSyncId{
        this, "number of the awaited recording of the event, as in CUPTI_ACTIVITY_KIND_CUDA_EVENT"};
} syncs;

inline constexpr struct CudaEvents : TableOf<CudaEvents> {
    constexpr CudaEvents()
        : TableOf("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "a CUDA event recorded in a stream", Content::Events) {}
    OptionalInteger<"timestamp"> timestamp{this, "time of the event on the GPU, ns; NULL if not timed"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"greenContextId"> greenContextId{this, "green context id; NULL in Lanescope traces"};
    Integer<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the API call in the same process"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    Integer<"eventId"> eventId{this, "CUPTI id of the event"};
    OptionalInteger<"eventSyncId"> eventSyncId{this, "number of the recording of the event"};
} cudaEvents;

inline constexpr struct MemoryEvents : TableOf<MemoryEvents> {
    constexpr MemoryEvents()
        : TableOf("CUDA_GPU_MEMORY_USAGE_EVENTS",
                  "an allocation or deallocation of memory; an allocation ends at the next deallocation of its address "
                  "in the process",
                  Content::Events) {}
    Integer<"start"> start{this, "time, ns"};
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    Integer<"address"> address{this, "start address"};
    Integer<"pc"> pc{this, "address of the calling code"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"memKind"> memKind{this, "memory kind, as in ENUM_CUDA_MEM_KIND"};
    Integer<"memoryOperationType"> memoryOperationType{this, "operation, as in ENUM_CUDA_DEV_MEM_EVENT_OPER"};
    OptionalText<"name"> name{this, "variable name, for memory of a module; NULL otherwise"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the API call in the same process"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"localMemoryPoolAddress"> localMemoryPoolAddress{
        this, "memory pool of the process; NULL without such a pool"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{
        this, "release threshold of localMemoryPoolAddress (memory kept by the pool), bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "size of localMemoryPoolAddress, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{
        this, "used size of localMemoryPoolAddress, bytes"};
    OptionalInteger<"importedMemoryPoolAddress"> importedMemoryPoolAddress{
        this, "memory pool of another process; NULL without such a pool"};
    OptionalInteger<"importedMemoryPoolProcessId"> importedMemoryPoolProcessId{
        this, "PID (not packed) of the owner of importedMemoryPoolAddress"};
} memoryEvents;

inline constexpr struct PoolEvents : TableOf<PoolEvents> {
    constexpr PoolEvents()
        : TableOf("CUDA_GPU_MEMORY_POOL_EVENTS", "a creation, destruction or trim of a memory pool", Content::Events) {}
    Integer<"start"> start{this, "time, ns"};
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "address of the pool"};
    Integer<"operationType"> operationType{this, "operation, as in ENUM_CUDA_MEMPOOL_OPER"};
    Integer<"poolType"> poolType{this, "origin of the pool, as in ENUM_CUDA_MEMPOOL_TYPE"};
    OptionalInteger<"correlationId"> correlationId{this, "correlation id of the API call in the same process"};
    OptionalInteger<"minBytesToKeep"> minBytesToKeep{this, "minimum size to keep in a trim, bytes"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{
        this, "release threshold of a pool of the process (memory kept by the pool), bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "size of a pool of the process, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{
        this, "used size of a pool of the process, bytes"};
} poolEvents;

/// Labels of page fault counts. A row of `GpuPageFaults` counts as `numberOfPageFaults` faults.
inline constexpr const char* cpuFaultsCounted = "CPU page faults";
inline constexpr const char* gpuFaultsCounted = "GPU page faults";

inline constexpr struct CpuPageFaults : TableOf<CpuPageFaults> {
    constexpr CpuPageFaults()
        : TableOf("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "a CPU page fault in managed memory", Content::Events) {}
    OptionalInteger<"start"> start{this, "time, ns; NULL if not timed"};
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"address"> address{this, "faulting address"};
    OptionalInteger<"originalFaultPc"> originalFaultPc{this, "address of the faulting instruction"};
    Integer<"CpuInstruction"> cpuInstruction{
        this, "address of the faulting instruction as text in StringIds, for example \"0x4011f6\""};
    OptionalInteger<"module"> module{this, "NULL in Lanescope traces; NOT NULL in Nsight Systems exports"};
    OptionalInteger<"unresolvedFaultPc"> unresolvedFaultPc{this, "1: unknown source of the instruction"};
    OptionalInteger<"sourceFile"> sourceFile{this, "NULL in Lanescope traces"};
    OptionalInteger<"sourceLine"> sourceLine{this, "NULL in Lanescope traces"};
} cpuPageFaults;

inline constexpr struct GpuPageFaults : TableOf<GpuPageFaults> {
    constexpr GpuPageFaults()
        : TableOf("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "GPU page faults in managed memory at one address",
                  Content::Events) {}
    OptionalInteger<"start"> start{this, "start time, ns; NULL if not timed"};
    OptionalInteger<"end"> end{this, "end of the fault handling, ns; NULL if not timed"};
    Integer<"globalPid"> globalPid{this, "packed process id"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "faulting address"};
    Integer<"numberOfPageFaults"> numberOfPageFaults{this, "number of fault groups at the address"};
    Integer<"faultAccessType"> faultAccessType{this, "kind of access, as in ENUM_CUDA_UNIF_MEM_ACCESS_TYPE"};
} gpuPageFaults;

}  // namespace lanescope::tables
