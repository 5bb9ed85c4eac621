#include "capture/cupti/ActivityDecoder.h"

#include <cupti_activity_deprecated.h>

#include <cstring>
#include <string>

#include <utility>

namespace lanescope {

namespace {

/// The record as the struct it begins like; see `CuptiLibrary` on layouts.
template <class Activity>
const Activity& as(const CUpti_Activity& record) {
    return reinterpret_cast<const Activity&>(record);
}

int64_t time(uint64_t ns) {
    return static_cast<int64_t>(ns);
}

/// When and where a piece of GPU work ran: the fields that all kinds of it share.
template <class Record, class Activity>
void copyPlace(Record& to, const Activity& from) {
    to.startNs = time(from.start);
    to.endNs = time(from.end);
    to.graphNodeId = from.graphNodeId;
    to.deviceId = from.deviceId;
    to.contextId = from.contextId;
    to.streamId = from.streamId;
    to.correlationId = from.correlationId;
    to.graphId = from.graphId;
}

/// What a memcpy within a device and one between devices share.
template <class Activity>
log::MemcpyRecord memcpyRecord(const Activity& from) {
    log::MemcpyRecord to{};
    copyPlace(to, from);
    to.bytes = from.bytes;
    to.copyKind = from.copyKind;
    to.sourceKind = from.srcKind;
    to.destinationKind = from.dstKind;
    to.isAsync = (from.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
    return to;
}

}  // namespace

void ActivityDecoder::decode(uint8_t* buffer, size_t validBytes) {
    CUpti_Activity* record = nullptr;
    while (cupti_.getNextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS) {
        if (record) decodeRecord(*record);
    }
}

void ActivityDecoder::decodeRecord(const CUpti_Activity& record) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            kernel(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            memcpy(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            peerMemcpy(record);
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            memset(record);
            break;
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            api(record, false);
            break;
        case CUPTI_ACTIVITY_KIND_DRIVER:
            api(record, true);
            break;
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            synchronization(record);
            break;
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
            cudaEvent(record);
            break;
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            overhead(record);
            break;
        case CUPTI_ACTIVITY_KIND_DEVICE:
            device(record);
            break;
        case CUPTI_ACTIVITY_KIND_CONTEXT:
            context(record);
            break;
        case CUPTI_ACTIVITY_KIND_STREAM:
            stream(record);
            break;
        default:
            break;  // a kind that comes along with another and that we do not keep
    }
}

void ActivityDecoder::kernel(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityKernel9>(record);
    log::KernelRecord to{};
    copyPlace(to, from);
    to.gridId = from.gridId;
    to.name = writer_.string(from.name ? from.name : "");
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
    to.sharedMemoryLimitConfig = static_cast<uint8_t>(from.shmemLimitConfig);
    to.clusterSchedulingPolicy = static_cast<uint8_t>(from.clusterSchedulingPolicy);
    to.sharedMemoryCarveoutPercent = from.sharedMemoryCarveoutRequested;
    writer_.write(log::RecordKind::Kernel, to, to.startNs);
}

void ActivityDecoder::memcpy(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityMemcpy5>(record);
    log::MemcpyRecord to = memcpyRecord(from);
    writer_.write(log::RecordKind::Memcpy, to, to.startNs);
}

void ActivityDecoder::peerMemcpy(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityMemcpyPtoP4>(record);
    log::MemcpyRecord to = memcpyRecord(from);
    to.sourceDeviceId = from.srcDeviceId;
    to.sourceContextId = from.srcContextId;
    to.destinationDeviceId = from.dstDeviceId;
    to.destinationContextId = from.dstContextId;
    to.isPeer = 1;
    writer_.write(log::RecordKind::Memcpy, to, to.startNs);
}

void ActivityDecoder::memset(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityMemset4>(record);
    log::MemsetRecord to{};
    copyPlace(to, from);
    to.bytes = from.bytes;
    to.value = from.value;
    to.memoryKind = static_cast<uint8_t>(from.memoryKind);
    to.isAsync = (from.flags & CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) != 0;
    writer_.write(log::RecordKind::Memset, to, to.startNs);
}

void ActivityDecoder::api(const CUpti_Activity& record, bool isDriver) {
    const auto& from = as<CUpti_ActivityAPI>(record);
    log::ApiRecord to{};
    to.startNs = time(from.start);
    to.endNs = time(from.end);
    to.name = apiNames_.idOf(from.cbid, isDriver);
    to.threadId = from.threadId;
    to.correlationId = from.correlationId;
    to.returnValue = static_cast<int32_t>(from.returnValue);
    to.isDriver = isDriver;
    writer_.write(log::RecordKind::Api, to, to.startNs);
}

void ActivityDecoder::synchronization(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivitySynchronization>(record);
    log::SyncRecord to{};
    to.startNs = time(from.start);
    to.endNs = time(from.end);
    to.type = static_cast<uint32_t>(from.type);
    to.contextId = from.contextId;
    to.streamId = from.streamId;
    to.correlationId = from.correlationId;
    to.eventId = from.cudaEventId;
    to.eventSyncId =
        cupti_.version >= CuptiLibrary::version12_8
            ? static_cast<uint32_t>(as<CUpti_ActivitySynchronization2>(record).cudaEventSyncId)
            : 0xffffffff;
    writer_.write(log::RecordKind::Sync, to, to.startNs);
}

void ActivityDecoder::cudaEvent(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityCudaEvent>(record);
    log::CudaEventRecord to{};
    to.contextId = from.contextId;
    to.streamId = from.streamId;
    to.correlationId = from.correlationId;
    to.eventId = from.eventId;
    to.deviceId = 0xffffffff;
    to.eventSyncId = 0xffffffff;
    if (cupti_.version >= CuptiLibrary::version12_8) {
        const auto& newer = as<CUpti_ActivityCudaEvent2>(record);
        to.deviceId = newer.deviceId;
        to.timestampNs = time(newer.deviceTimestamp);
        to.eventSyncId = static_cast<uint32_t>(newer.cudaEventSyncId);
    }
    writer_.write(log::RecordKind::CudaEvent, to);
}

void ActivityDecoder::overhead(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityOverhead>(record);
    log::OverheadRecord to{};
    to.startNs = time(from.start);
    to.endNs = time(from.end);
    to.overheadKind = static_cast<uint32_t>(from.overheadKind);
    if (from.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) to.threadId = from.objectId.pt.threadId;
    writer_.write(log::RecordKind::Overhead, to, to.startNs);
}

void ActivityDecoder::device(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityDevice4>(record);
    log::DeviceRecord to{};
    std::memcpy(to.uuid, from.uuid.bytes, sizeof to.uuid);
    to.memoryBytes = from.globalMemorySize;
    to.memoryBandwidthKBps = from.globalMemoryBandwidth;
    to.deviceId = from.id;
    to.name = writer_.string(from.name ? from.name : "");
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
    writer_.write(log::RecordKind::Device, to);
}

void ActivityDecoder::context(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityContext>(record);
    log::ContextRecord to{};
    to.contextId = from.contextId;
    to.deviceId = from.deviceId;
    to.nullStreamId = from.nullStreamId;
    writer_.write(log::RecordKind::Context, to);
}

void ActivityDecoder::stream(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityStream>(record);
    log::StreamRecord to{};
    to.contextId = from.contextId;
    to.streamId = from.streamId;
    to.priority = from.priority;
    to.flag = static_cast<uint32_t>(from.flag);
    writer_.write(log::RecordKind::Stream, to);
}

}  // namespace lanescope
