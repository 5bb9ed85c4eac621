// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/activityRecords.h"

#include <cstring>
#include <type_traits>

#include "capture/cupti/CuptiLibrary.h"

namespace lanescope::agent {

namespace {

struct Layout {
    CUpti_ActivityKind kind;
    uint32_t sinceVersion;
    uint16_t bytes;
};

constexpr uint32_t oldest = CuptiLibrary::version11_8;

// By kind, oldest first; the last available version counts.
constexpr Layout layouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, oldest, sizeof(CUpti_ActivityKernel8)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CuptiLibrary::version12_0, sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_KERNEL, oldest, sizeof(CUpti_ActivityKernel8)},
    {CUPTI_ACTIVITY_KIND_KERNEL, CuptiLibrary::version12_0, sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_MEMCPY, oldest, sizeof(CUpti_ActivityMemcpy5)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, oldest, sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, oldest, sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, oldest, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, oldest, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, oldest, sizeof(CUpti_ActivitySynchronization)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CuptiLibrary::version12_8, sizeof(CUpti_ActivitySynchronization2)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, oldest, sizeof(CUpti_ActivityCudaEvent)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CuptiLibrary::version12_8, sizeof(CUpti_ActivityCudaEvent2)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, oldest, sizeof(CUpti_ActivityOverhead)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLibrary::version12_2, sizeof(CUpti_ActivityOverhead2)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLibrary::version12_6, sizeof(CUpti_ActivityOverhead3)},
    {CUPTI_ACTIVITY_KIND_DEVICE, oldest, sizeof(CUpti_ActivityDevice4)},
    {CUPTI_ACTIVITY_KIND_CONTEXT, oldest, sizeof(CUpti_ActivityContext)},
    {CUPTI_ACTIVITY_KIND_STREAM, oldest, sizeof(CUpti_ActivityStream)},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, oldest, sizeof(CUpti_ActivityGraphTrace)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, oldest, sizeof(CUpti_ActivityMemory3)},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, oldest, sizeof(CUpti_ActivityMemoryPool2)},
    {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, oldest, sizeof(CUpti_ActivityUnifiedMemoryCounter2)},
};

// Assumptions of these layouts: the headers' structs are those of the versions above, and a newer
// struct begins like an older one.
static_assert(sizeof(CUpti_ActivityKernel8) == 200 && sizeof(CUpti_ActivityKernel9) == 208);
static_assert(offsetof(CUpti_ActivityKernel8, start) == offsetof(CUpti_ActivityKernel10, start));
static_assert(offsetof(CUpti_ActivityKernel8, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(CUpti_ActivityKernel8, graphNodeId) == offsetof(CUpti_ActivityKernel10, graphNodeId));
static_assert(offsetof(CUpti_ActivityKernel8, clusterX) == offsetof(CUpti_ActivityKernel10, clusterX));
static_assert(offsetof(CUpti_ActivityKernel9, localMemoryTotal_v2) ==
              offsetof(CUpti_ActivityKernel10, localMemoryTotal_v2));
static_assert(offsetof(CUpti_ActivityKernel8, localMemoryTotal_v2) ==
              offsetof(CUpti_ActivityKernel10, localMemoryTotal_v2));
static_assert(sizeof(CUpti_ActivityMemcpy5) == 88 && sizeof(CUpti_ActivityMemcpyPtoP4) == 96);
static_assert(offsetof(CUpti_ActivityMemcpy5, graphId) == offsetof(CUpti_ActivityMemcpy6, graphId));
static_assert(sizeof(CUpti_ActivityMemset4) == 88 && sizeof(CUpti_ActivityAPI) == 40);
static_assert(sizeof(CUpti_ActivitySynchronization) == 40 && sizeof(CUpti_ActivitySynchronization2) == 56);
static_assert(offsetof(CUpti_ActivitySynchronization, cudaEventId) ==
              offsetof(CUpti_ActivitySynchronization2, cudaEventId));
static_assert(sizeof(CUpti_ActivityCudaEvent) == 24 && sizeof(CUpti_ActivityCudaEvent2) == 56);
static_assert(sizeof(CUpti_ActivityOverhead) == 40 && sizeof(CUpti_ActivityOverhead2) == 48 &&
              sizeof(CUpti_ActivityOverhead3) == 56);
static_assert(offsetof(CUpti_ActivityOverhead, end) == offsetof(CUpti_ActivityOverhead3, end));
static_assert(sizeof(CUpti_ActivityDevice4) == 176 && sizeof(CUpti_ActivityStream) == 24);
static_assert(offsetof(CUpti_ActivityDevice4, uuid) == offsetof(CUpti_ActivityDevice5, uuid));
static_assert(offsetof(CUpti_ActivityDevice4, name) == offsetof(CUpti_ActivityDevice5, name));
static_assert(sizeof(CUpti_ActivityContext) == 16);
static_assert(offsetof(CUpti_ActivityContext, nullStreamId) == offsetof(CUpti_ActivityContext3, nullStreamId));
static_assert(offsetof(CUpti_ActivityGraphTrace, streamId) == offsetof(CUpti_ActivityGraphTrace2, streamId));
static_assert(sizeof(CUpti_ActivityMemory3) == 120 && sizeof(CUpti_ActivityMemoryPool2) == 72);
static_assert(offsetof(CUpti_ActivityMemory3, memoryPoolConfig) == offsetof(CUpti_ActivityMemory4, memoryPoolConfig));
static_assert(offsetof(CUpti_ActivityMemoryPool2, utilizedSize) == offsetof(CUpti_ActivityMemoryPool3, utilizedSize));
static_assert(sizeof(CUpti_ActivityUnifiedMemoryCounter2) == 64);
static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter2, flags) ==
              offsetof(CUpti_ActivityUnifiedMemoryCounter3, flags));

constexpr uint32_t notApplicable = 0xffffffff;

int64_t signedNs(uint64_t ns) { return static_cast<int64_t>(ns); }

/// Returns the raw value of an enumeration field, which may be unknown to the CUPTI header. Takes the field, not its
/// value: records are packed, a reference to a field binds to a copy, and an unknown value must not be copied.
template <class Record, class Enum>
uint32_t numberIn(const Record& record, Enum Record::*field) {
    static_assert(sizeof(Enum) == sizeof(uint32_t));
    uint32_t number = 0;
    std::memcpy(&number, &(record.*field), sizeof number);
    return number;
}

/// Returns the record with the times and the fields that both structs name alike; its other fields are 0. A field that
/// CUPTI's struct lacks is an error of the compiler, except for the three that some structs name otherwise.
template <class Record>
Record commonOf(const auto& from) {
    Record to{};
    if constexpr (requires { to.startNs; }) {
        to.startNs = signedNs(from.start);
        to.endNs = signedNs(from.end);
    }
    if constexpr (requires { to.timestampNs = from.timestamp; }) to.timestampNs = signedNs(from.timestamp);
    if constexpr (requires { to.deviceId; }) to.deviceId = from.deviceId;
    if constexpr (requires { to.contextId; }) to.contextId = from.contextId;
    if constexpr (requires { to.streamId; }) to.streamId = from.streamId;
    if constexpr (requires { to.correlationId; }) to.correlationId = from.correlationId;
    if constexpr (requires { to.graphId; }) to.graphId = from.graphId;
    if constexpr (requires { to.graphNodeId; }) to.graphNodeId = from.graphNodeId;
    if constexpr (requires { to.threadId = from.threadId; }) to.threadId = from.threadId;
    if constexpr (requires { to.processId; }) to.processId = from.processId;
    if constexpr (requires { to.address; }) to.address = from.address;
    if constexpr (requires { to.bytes = from.bytes; }) to.bytes = from.bytes;
    if constexpr (requires { to.value; }) to.value = from.value;
    return to;
}

/// Copies the common fields of memcpys within a device and between devices.
log::MemcpyRecord memcpyRecord(const auto& from) {
    auto to = commonOf<log::MemcpyRecord>(from);
    to.copyKind = from.copyKind;
    to.sourceKind = from.srcKind;
    to.destinationKind = from.dstKind;
    to.isAsync = (from.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
    return to;
}

}  // namespace

size_t knownRecordBytes(CUpti_ActivityKind kind, uint32_t version) {
    size_t bytes = 0;
    for (const Layout& layout : layouts)
        if (layout.kind == kind && layout.sinceVersion <= version) bytes = layout.bytes;
    return bytes;
}

log::KernelRecord toLog(const CUpti_ActivityKernel9& from) {
    auto to = commonOf<log::KernelRecord>(from);
    to.gridId = from.gridId;
    const int32_t grid[] = {from.gridX, from.gridY, from.gridZ};
    const int32_t block[] = {from.blockX, from.blockY, from.blockZ};
    const uint32_t cluster[] = {from.clusterX, from.clusterY, from.clusterZ};
    std::memcpy(to.grid, grid, sizeof grid);
    std::memcpy(to.block, block, sizeof block);
    std::memcpy(to.cluster, cluster, sizeof cluster);
    to.registersPerThread = from.registersPerThread;
    to.staticSharedBytes = static_cast<uint32_t>(from.staticSharedMemory);
    to.dynamicSharedBytes = static_cast<uint32_t>(from.dynamicSharedMemory);
    to.localBytesPerThread = from.localMemoryPerThread;
    to.sharedBytesExecuted = from.sharedMemoryExecuted;
    to.localBytesTotal = from.localMemoryTotal_v2;
    to.cacheConfig = from.cacheConfig.config.executed;
    to.launchType = from.launchType;
    to.sharedMemoryLimitConfig = static_cast<uint8_t>(numberIn(from, &CUpti_ActivityKernel9::shmemLimitConfig));
    to.clusterSchedulingPolicy = static_cast<uint8_t>(from.clusterSchedulingPolicy);
    to.sharedMemoryCarveoutPercent = from.sharedMemoryCarveoutRequested;
    return to;
}

log::MemcpyRecord toLog(const CUpti_ActivityMemcpy5& from) { return memcpyRecord(from); }

log::MemcpyRecord toLog(const CUpti_ActivityMemcpyPtoP4& from) {
    log::MemcpyRecord to = memcpyRecord(from);
    to.sourceDeviceId = from.srcDeviceId;
    to.sourceContextId = from.srcContextId;
    to.destinationDeviceId = from.dstDeviceId;
    to.destinationContextId = from.dstContextId;
    to.isPeer = 1;
    return to;
}

log::MemsetRecord toLog(const CUpti_ActivityMemset4& from) {
    auto to = commonOf<log::MemsetRecord>(from);
    to.memoryKind = static_cast<uint8_t>(from.memoryKind);
    to.isAsync = (from.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0;
    return to;
}

log::GraphRecord toLog(const CUpti_ActivityGraphTrace& from) { return commonOf<log::GraphRecord>(from); }

log::ApiRecord toLog(const CUpti_ActivityAPI& from) {
    auto to = commonOf<log::ApiRecord>(from);
    to.returnValue = static_cast<int32_t>(from.returnValue);
    to.isDriver = from.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    return to;
}

log::SyncRecord toLog(const CUpti_ActivitySynchronization2& from, bool hasSyncIds) {
    auto to = commonOf<log::SyncRecord>(from);
    to.type = numberIn(from, &CUpti_ActivitySynchronization2::type);
    to.eventId = from.cudaEventId;
    to.eventSyncId = hasSyncIds ? static_cast<uint32_t>(from.cudaEventSyncId) : notApplicable;
    return to;
}

log::CudaEventRecord toLog(const CUpti_ActivityCudaEvent2& from, bool hasSyncIds) {
    auto to = commonOf<log::CudaEventRecord>(from);
    to.eventId = from.eventId;
    to.deviceId = hasSyncIds ? from.deviceId : notApplicable;
    to.timestampNs = signedNs(from.deviceTimestamp);
    to.eventSyncId = hasSyncIds ? static_cast<uint32_t>(from.cudaEventSyncId) : notApplicable;
    return to;
}

log::OverheadRecord toLog(const CUpti_ActivityOverhead3& from) {
    auto to = commonOf<log::OverheadRecord>(from);
    to.overheadKind = numberIn(from, &CUpti_ActivityOverhead3::overheadKind);
    if (from.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) to.threadId = from.objectId.pt.threadId;
    return to;
}

log::DeviceMemoryRecord toLog(const CUpti_ActivityMemory3& from) {
    auto to = commonOf<log::DeviceMemoryRecord>(from);
    to.programCounter = from.PC;
    to.operation = static_cast<uint8_t>(numberIn(from, &CUpti_ActivityMemory3::memoryOperationType));
    to.memoryKind = static_cast<uint8_t>(from.memoryKind);
    to.isAsync = from.isAsync != 0;
    const auto& pool = from.memoryPoolConfig;
    const uint32_t poolType = numberIn(pool, &std::remove_cvref_t<decltype(pool)>::memoryPoolType);
    to.poolType = static_cast<uint8_t>(poolType);
    if (poolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) return to;
    to.poolAddress = pool.address;
    to.poolReleaseThreshold = pool.releaseThreshold;
    to.poolUsedBytes = pool.utilizedSize;
    // One field holds either value, for pools of another process or of this one.
    if (poolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED)
        to.poolProcessId = static_cast<uint32_t>(pool.pool.processId);
    else
        to.poolBytes = pool.pool.size;
    return to;
}

log::MemoryPoolRecord toLog(const CUpti_ActivityMemoryPool2& from) {
    auto to = commonOf<log::MemoryPoolRecord>(from);
    to.bytes = from.size;
    to.releaseThreshold = from.releaseThreshold;
    to.usedBytes = from.utilizedSize;
    to.minimumBytesToKeep = from.minBytesToKeep;
    to.operation = static_cast<uint8_t>(numberIn(from, &CUpti_ActivityMemoryPool2::memoryPoolOperationType));
    to.poolType = static_cast<uint8_t>(numberIn(from, &CUpti_ActivityMemoryPool2::memoryPoolType));
    return to;
}

log::UnifiedMemoryRecord toLog(const CUpti_ActivityUnifiedMemoryCounter2& from) {
    auto to = commonOf<log::UnifiedMemoryRecord>(from);
    to.counterKind = numberIn(from, &CUpti_ActivityUnifiedMemoryCounter2::counterKind);
    to.sourceId = from.srcId;
    to.destinationId = from.dstId;
    to.flags = from.flags;
    return to;
}

log::DeviceRecord toLog(const CUpti_ActivityDevice4& from) {
    log::DeviceRecord to{};
    // A slice of a GPU (MIG) has its own UUID, which NVML does not list: the slice does not own the GPU's links.
    std::memcpy(to.uuid, from.isMigEnabled != 0 ? from.migUuid.bytes : from.uuid.bytes, sizeof to.uuid);
    to.memoryBytes = from.globalMemorySize;
    to.memoryBandwidthKBps = from.globalMemoryBandwidth;
    to.deviceId = from.id;
    to.computeMajor = from.computeCapabilityMajor;
    to.computeMinor = from.computeCapabilityMinor;
    to.smCount = from.numMultiprocessors;
    to.coreClockKHz = from.coreClockRate;
    to.l2Bytes = from.l2CacheSize;
    to.constantBytes = from.constantMemorySize;
    to.maxThreadsPerBlock = from.maxThreadsPerBlock;
    to.maxRegistersPerBlock = from.maxRegistersPerBlock;
    to.maxSharedBytesPerBlock = from.maxSharedMemoryPerBlock;
    to.maxWarpsPerSm = from.maxWarpsPerMultiprocessor;
    to.maxBlocksPerSm = from.maxBlocksPerMultiprocessor;
    to.threadsPerWarp = from.numThreadsPerWarp;
    to.copyEngines = from.numMemcpyEngines;
    to.maxRegistersPerSm = from.maxRegistersPerMultiprocessor;
    to.maxSharedBytesPerSm = from.maxSharedMemoryPerMultiprocessor;
    const uint32_t block[] = {from.maxBlockDimX, from.maxBlockDimY, from.maxBlockDimZ};
    const uint32_t grid[] = {from.maxGridDimX, from.maxGridDimY, from.maxGridDimZ};
    std::memcpy(to.maxBlockDim, block, sizeof block);
    std::memcpy(to.maxGridDim, grid, sizeof grid);
    return to;
}

log::ContextRecord toLog(const CUpti_ActivityContext& from) {
    auto to = commonOf<log::ContextRecord>(from);
    to.nullStreamId = from.nullStreamId;
    return to;
}

log::StreamRecord toLog(const CUpti_ActivityStream& from) {
    auto to = commonOf<log::StreamRecord>(from);
    to.priority = from.priority;
    to.flag = static_cast<uint32_t>(from.flag);
    return to;
}

}  // namespace lanescope::agent
