#include "capture/collector/ActivityImporter.h"

#include <algorithm>

#include "capture/collector/cuptiNumbers.h"

namespace lanescope {

namespace {

// Of ENUM_NSYS_EVENT_CLASS.
constexpr int runtimeClass = 0;
constexpr int driverClass = 1;
constexpr int overheadClass = 103;

struct OverheadName {
    int type;  ///< Of ENUM_CUPTI_OVERHEAD_TYPE.
    const char* name;
};

OverheadName overheadName(uint32_t cuptiKind) {
    switch (cuptiKind) {
        case 1:
            return {2, "Driver compiler"};
        case 1 << 16:
            return {3, "CUPTI buffer flush"};
        case 2 << 16:
            return {4, "CUPTI instrumentation"};
        case 3 << 16:
            return {5, "CUPTI resource"};
        case 4 << 16:
            return {6, "Module loading"};
        case 5 << 16:
            return {7, "Lazy function loading"};
        case 6 << 16:
            return {8, "Command buffer full"};
        case 7 << 16:
            return {1, "CUPTI buffer request"};
        default:
            return {1, "Unknown overhead"};
    }
}

}  // namespace

ActivityImporter::Times ActivityImporter::times(ImportedKind kind, int64_t startNs, int64_t endNs) {
    ++counts_.of(kind);
    if (startNs == 0 && endNs == 0) {  // CUPTI's way to say that it did not time it.
        ++counts_.untimed[static_cast<size_t>(kind)];
        return {};
    }
    latestNs_ = std::max(latestNs_, endNs);
    return {process_.time(startNs), process_.time(endNs)};
}

int64_t ActivityImporter::deviceOf(uint32_t contextId) const {
    const auto found = deviceByContext_.find(contextId);
    return found == deviceByContext_.end() ? -1 : int64_t{found->second};
}

void ActivityImporter::add(const log::KernelRecord& r) {
    const auto [start, end] = times(ImportedKind::Kernel, r.startNs, r.endNs);
    const LogStrings::KernelNames names = process_.strings.kernelNames(r.name);
    process_.trace.kernels.insert(
        start, end, r.deviceId, r.contextId, r.streamId, r.correlationId, process_.processId(),
        names.demangled, names.brief, names.mangled, r.launchType, r.cacheConfig,
        r.registersPerThread, r.grid[0], r.grid[1], r.grid[2], r.block[0], r.block[1], r.block[2],
        r.staticSharedBytes, r.dynamicSharedBytes, r.localBytesPerThread, r.localBytesTotal,
        r.gridId, r.sharedBytesExecuted, unlessZero(r.graphNodeId), r.sharedMemoryLimitConfig,
        unlessZero(r.graphId), r.cluster[0], r.cluster[1], r.cluster[2], r.clusterSchedulingPolicy,
        r.sharedMemoryCarveoutPercent);
}

void ActivityImporter::add(const log::MemcpyRecord& r) {
    const auto [start, end] = times(ImportedKind::Memcpy, r.startNs, r.endNs);
    const auto ofPeer = [&](uint32_t value) {
        return r.isPeer != 0 ? std::optional<uint32_t>(value) : std::nullopt;
    };
    process_.trace.memcpys.insert(
        start, end, r.deviceId, r.contextId, r.streamId, r.correlationId, process_.processId(),
        r.bytes, memcpyKindFrom(r.copyKind), memoryKindOfCupti(r.sourceKind),
        memoryKindOfCupti(r.destinationKind), ofPeer(r.sourceDeviceId), ofPeer(r.sourceContextId),
        ofPeer(r.destinationDeviceId), ofPeer(r.destinationContextId), unlessZero(r.graphNodeId));
}

void ActivityImporter::add(const log::MemsetRecord& r) {
    const auto [start, end] = times(ImportedKind::Memset, r.startNs, r.endNs);
    process_.trace.memsets.insert(start, end, r.deviceId, r.contextId, r.streamId, r.correlationId,
                                  process_.processId(), r.value, r.bytes, unlessZero(r.graphNodeId),
                                  memoryKindOfCupti(r.memoryKind));
}

void ActivityImporter::add(const log::GraphRecord& r) {
    const auto [start, end] = times(ImportedKind::Graph, r.startNs, r.endNs);
    // CUPTI numbers graphs that were made ready to run and says nothing of what they were made of.
    process_.trace.graphs.insert(start, end, r.deviceId, r.contextId, r.streamId, r.correlationId,
                                 process_.processId(), r.graphId, r.graphId);
}

void ActivityImporter::add(const log::ApiRecord& r) {
    const auto [start, end] = times(ImportedKind::Api, r.startNs, r.endNs);
    process_.trace.apiCalls.insert(start, end, r.isDriver != 0 ? driverClass : runtimeClass,
                                   process_.threadId(r.threadId), r.correlationId,
                                   process_.strings.traceId(r.name), r.returnValue);
}

void ActivityImporter::add(const log::SyncRecord& r) {
    const auto [start, end] = times(ImportedKind::Sync, r.startNs, r.endNs);
    process_.trace.syncs.insert(start, end, deviceOf(r.contextId), r.contextId, r.streamId,
                                r.correlationId, process_.processId(), r.type, r.eventId,
                                r.eventSyncId);
}

void ActivityImporter::add(const log::CudaEventRecord& r) {
    ++counts_.of(ImportedKind::CudaEvent);
    // They carry no time unless asked for, which is no loss.
    std::optional<int64_t> time;
    if (r.timestampNs != 0) time = process_.time(r.timestampNs);
    process_.trace.cudaEvents.insert(time, r.deviceId, r.contextId, r.streamId, r.correlationId,
                                     process_.processId(), r.eventId, r.eventSyncId);
}

void ActivityImporter::add(const log::OverheadRecord& r) {
    const auto [start, end] = times(ImportedKind::Overhead, r.startNs, r.endNs);
    const OverheadName overhead = overheadName(r.overheadKind);
    process_.trace.overheads.insert(start, end, overheadClass, process_.threadId(r.threadId),
                                    r.correlationId, process_.trace.strings.intern(overhead.name),
                                    overhead.type);
}

void ActivityImporter::add(const log::DeviceRecord& r) {
    sawDevice_ = true;
    if (!devices_.insert(r.deviceId).second) return;
    const int64_t gpu = gpus_.add(r, process_.strings.text(r.name));
    process_.trace.cudaDevices.insert(gpu, r.deviceId, process_.pid);
}

void ActivityImporter::add(const log::ContextRecord& r) {
    sawDevice_ = true;
    if (!deviceByContext_.try_emplace(r.contextId, r.deviceId).second) return;
    process_.trace.contexts.insert(r.nullStreamId, process_.host, virtualMachine, process_.pid,
                                   r.deviceId, r.contextId);
    process_.trace.nullStreams.insert(r.nullStreamId, process_.host, virtualMachine, process_.pid,
                                      r.deviceId, r.contextId);
}

void ActivityImporter::add(const log::StreamRecord& r) {
    if (!streams_.emplace(r.contextId, r.streamId).second) return;
    process_.trace.streams.insert(r.streamId, process_.host, virtualMachine, process_.pid,
                                  r.contextId, static_cast<int32_t>(r.priority), r.flag);
}

}  // namespace lanescope
