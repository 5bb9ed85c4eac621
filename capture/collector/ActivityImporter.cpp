// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/ActivityImporter.h"

#include <algorithm>

#include "capture/collector/cuptiNumbers.h"
#include "capture/collector/unless.h"
#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Gpus.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Kernels.h"
#include "model/format/tables/Syncs.h"

namespace lanescope::capture {

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
    constexpr const auto& t = tables::kernels;
    process_.trace.add(
        t, t.start = start, t.end = end, t.deviceId = r.deviceId, t.contextId = r.contextId,
        t.streamId = r.streamId, t.correlationId = r.correlationId,
        t.globalPid = process_.processId(), t.demangledName = names.demangled,
        t.shortName = names.brief, t.mangledName = names.mangled, t.launchType = r.launchType,
        t.cacheConfig = r.cacheConfig, t.registersPerThread = r.registersPerThread,
        t.gridX = r.grid[0], t.gridY = r.grid[1], t.gridZ = r.grid[2], t.blockX = r.block[0],
        t.blockY = r.block[1], t.blockZ = r.block[2], t.staticSharedMemory = r.staticSharedBytes,
        t.dynamicSharedMemory = r.dynamicSharedBytes,
        t.localMemoryPerThread = r.localBytesPerThread, t.localMemoryTotal = r.localBytesTotal,
        t.gridId = r.gridId, t.sharedMemoryExecuted = r.sharedBytesExecuted,
        t.graphNodeId = unlessZero(r.graphNodeId),
        t.sharedMemoryLimitConfig = r.sharedMemoryLimitConfig, t.graphId = unlessZero(r.graphId),
        t.clusterX = r.cluster[0], t.clusterY = r.cluster[1], t.clusterZ = r.cluster[2],
        t.clusterSchedulingPolicy = r.clusterSchedulingPolicy,
        t.sharedMemoryRequestedPercentage = r.sharedMemoryCarveoutPercent);
}

void ActivityImporter::add(const log::MemcpyRecord& r) {
    const auto [start, end] = times(ImportedKind::Memcpy, r.startNs, r.endNs);
    const auto ofPeer = [&](uint32_t value) {
        return r.isPeer != 0 ? std::optional<uint32_t>(value) : std::nullopt;
    };
    constexpr const auto& t = tables::memcpys;
    process_.trace.add(
        t, t.start = start, t.end = end, t.deviceId = r.deviceId, t.contextId = r.contextId,
        t.streamId = r.streamId, t.correlationId = r.correlationId,
        t.globalPid = process_.processId(), t.bytes = r.bytes,
        t.copyKind = memcpyKindFrom(r.copyKind), t.srcKind = memoryKindOfCupti(r.sourceKind),
        t.dstKind = memoryKindOfCupti(r.destinationKind), t.srcDeviceId = ofPeer(r.sourceDeviceId),
        t.srcContextId = ofPeer(r.sourceContextId), t.dstDeviceId = ofPeer(r.destinationDeviceId),
        t.dstContextId = ofPeer(r.destinationContextId), t.graphNodeId = unlessZero(r.graphNodeId));
}

void ActivityImporter::add(const log::MemsetRecord& r) {
    const auto [start, end] = times(ImportedKind::Memset, r.startNs, r.endNs);
    constexpr const auto& t = tables::memsets;
    process_.trace.add(
        t, t.start = start, t.end = end, t.deviceId = r.deviceId, t.contextId = r.contextId,
        t.streamId = r.streamId, t.correlationId = r.correlationId,
        t.globalPid = process_.processId(), t.value = r.value, t.bytes = r.bytes,
        t.graphNodeId = unlessZero(r.graphNodeId), t.memKind = memoryKindOfCupti(r.memoryKind));
}

void ActivityImporter::add(const log::GraphRecord& r) {
    const auto [start, end] = times(ImportedKind::Graph, r.startNs, r.endNs);
    constexpr const auto& t = tables::graphs;
    // CUPTI numbers graphs that were made ready to run and says nothing of what they were made of.
    process_.trace.add(t, t.start = start, t.end = end, t.deviceId = r.deviceId,
                       t.contextId = r.contextId, t.streamId = r.streamId,
                       t.correlationId = r.correlationId, t.globalPid = process_.processId(),
                       t.graphId = r.graphId, t.graphExecId = r.graphId);
}

void ActivityImporter::add(const log::GraphNodeRecord& r) {
    constexpr const auto& t = tables::graphNodes;
    process_.trace.add(t, t.globalTid = process_.threadId(r.threadId),
                       t.timestamp = process_.time(r.timestampNs), t.graphNodeId = r.node,
                       t.originalNodeId = unlessZero(r.original),
                       t.callchainId = process_.stacks.traceId(r.stack));
}

void ActivityImporter::add(const log::ApiRecord& r) {
    const auto [start, end] = times(ImportedKind::Api, r.startNs, r.endNs);
    constexpr const auto& t = tables::apiCalls;
    process_.trace.add(t, t.start = start, t.end = end,
                       t.eventClass = r.isDriver != 0 ? driverClass : runtimeClass,
                       t.globalTid = process_.threadId(r.threadId),
                       t.correlationId = r.correlationId,
                       t.nameId = process_.strings.traceId(r.name), t.returnValue = r.returnValue,
                       t.callchainId = process_.stacks.traceId(r.stack));
}

void ActivityImporter::add(const log::SyncRecord& r) {
    const auto [start, end] = times(ImportedKind::Sync, r.startNs, r.endNs);
    constexpr const auto& t = tables::syncs;
    process_.trace.add(t, t.start = start, t.end = end, t.deviceId = deviceOf(r.contextId),
                       t.contextId = r.contextId, t.streamId = r.streamId,
                       t.correlationId = r.correlationId, t.globalPid = process_.processId(),
                       t.syncType = r.type, t.eventId = r.eventId, t.eventSyncId = r.eventSyncId);
}

void ActivityImporter::add(const log::CudaEventRecord& r) {
    ++counts_.of(ImportedKind::CudaEvent);
    // They carry no time unless asked for, which is no loss.
    std::optional<int64_t> time;
    if (r.timestampNs != 0) time = process_.time(r.timestampNs);
    constexpr const auto& t = tables::cudaEvents;
    process_.trace.add(t, t.timestamp = time, t.deviceId = r.deviceId, t.contextId = r.contextId,
                       t.streamId = r.streamId, t.correlationId = r.correlationId,
                       t.globalPid = process_.processId(), t.eventId = r.eventId,
                       t.eventSyncId = r.eventSyncId);
}

void ActivityImporter::add(const log::OverheadRecord& r) {
    const auto [start, end] = times(ImportedKind::Overhead, r.startNs, r.endNs);
    const OverheadName overhead = overheadName(r.overheadKind);
    constexpr const auto& t = tables::overheads;
    process_.trace.add(
        t, t.start = start, t.end = end, t.eventClass = overheadClass,
        t.globalTid = process_.threadId(r.threadId), t.correlationId = r.correlationId,
        t.nameId = process_.trace.intern(overhead.name), t.overheadType = overhead.type);
}

void ActivityImporter::add(const log::DeviceRecord& r) {
    sawDevice_ = true;
    if (!devices_.insert(r.deviceId).second) return;
    const int64_t gpu = gpus_.add(r, process_.strings.text(r.name));
    constexpr const auto& t = tables::cudaDevices;
    process_.trace.add(t, t.gpuId = gpu, t.cudaId = r.deviceId, t.pid = process_.pid);
}

void ActivityImporter::add(const log::ContextRecord& r) {
    sawDevice_ = true;
    if (!deviceByContext_.try_emplace(r.contextId, r.deviceId).second) return;
    constexpr const auto& context = tables::contexts;
    process_.trace.add(context, context.nullStreamId = r.nullStreamId, context.hwId = process_.host,
                       context.vmId = virtualMachine, context.processId = process_.pid,
                       context.deviceId = r.deviceId, context.contextId = r.contextId);
    constexpr const auto& stream = tables::nullStreams;
    process_.trace.add(stream, stream.streamId = r.nullStreamId, stream.hwId = process_.host,
                       stream.vmId = virtualMachine, stream.processId = process_.pid,
                       stream.deviceId = r.deviceId, stream.contextId = r.contextId);
}

void ActivityImporter::add(const log::StreamRecord& r) {
    if (!streams_.emplace(r.contextId, r.streamId).second) return;
    constexpr const auto& t = tables::streams;
    process_.trace.add(t, t.streamId = r.streamId, t.hwId = process_.host, t.vmId = virtualMachine,
                       t.processId = process_.pid, t.contextId = r.contextId,
                       t.priority = static_cast<int32_t>(r.priority), t.flag = r.flag);
}

}  // namespace lanescope::capture
