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
#include "model/format/tables/Recording.h"
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

/// Nothing if CUPTI did not time it.
std::optional<TimeRange> ActivityImporter::times(ImportedKind kind, int64_t startNs,
                                                 int64_t endNs) {
    ++counts_.of(kind);
    if (startNs == 0 && endNs == 0) {  // CUPTI's way to say so.
        ++counts_.untimed[static_cast<size_t>(kind)];
        return std::nullopt;
    }
    latestNs_ = std::max(latestNs_, endNs);
    return TimeRange{process_.time(startNs), process_.time(endNs)};
}

/// Keeps what is known of it out of the way of who computes with times.
template <class Record>
void ActivityImporter::addUntimed(const tables::Table& table, const Record& r,
                                  std::optional<int64_t> name) {
    std::optional<int64_t> thread, device, context, stream;
    if constexpr (requires { r.threadId; }) thread = process_.threadId(r.threadId);
    if constexpr (requires { r.deviceId; }) device = r.deviceId;
    if constexpr (requires { r.contextId; }) context = r.contextId;
    if constexpr (requires { r.streamId; }) stream = r.streamId;
    constexpr const auto& t = tables::untimed;
    process_.trace.add(t, t.inTable = table.tableName(), t.globalPid = process_.processId(),
                       t.globalTid = thread, t.deviceId = device, t.contextId = context,
                       t.streamId = stream, t.correlationId = r.correlationId, t.nameId = name);
}

int64_t ActivityImporter::deviceOf(uint32_t contextId) const {
    const auto found = deviceByContext_.find(contextId);
    return found == deviceByContext_.end() ? -1 : int64_t{found->second};
}

void ActivityImporter::add(const log::KernelRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Kernel, r.startNs, r.endNs);
    const LogStrings::KernelNames names = process_.strings.kernelNames(r.name);
    constexpr const auto& t = tables::kernels;
    if (!timed) return addUntimed(t, r, names.brief);
    process_.trace.add(
        t, t.start = timed->startNs, t.end = timed->endNs, t.deviceId = r.deviceId,
        t.contextId = r.contextId, t.streamId = r.streamId, t.correlationId = r.correlationId,
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
    const std::optional<TimeRange> timed = times(ImportedKind::Memcpy, r.startNs, r.endNs);
    const auto ofPeer = [&](uint32_t value) {
        return r.isPeer != 0 ? std::optional<uint32_t>(value) : std::nullopt;
    };
    constexpr const auto& t = tables::memcpys;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(
        t, t.start = timed->startNs, t.end = timed->endNs, t.deviceId = r.deviceId,
        t.contextId = r.contextId, t.streamId = r.streamId, t.correlationId = r.correlationId,
        t.globalPid = process_.processId(), t.bytes = r.bytes,
        t.copyKind = memcpyKindFrom(r.copyKind), t.srcKind = memoryKindOfCupti(r.sourceKind),
        t.dstKind = memoryKindOfCupti(r.destinationKind), t.srcDeviceId = ofPeer(r.sourceDeviceId),
        t.srcContextId = ofPeer(r.sourceContextId), t.dstDeviceId = ofPeer(r.destinationDeviceId),
        t.dstContextId = ofPeer(r.destinationContextId), t.graphNodeId = unlessZero(r.graphNodeId));
}

void ActivityImporter::add(const log::MemsetRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Memset, r.startNs, r.endNs);
    constexpr const auto& t = tables::memsets;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(
        t, t.start = timed->startNs, t.end = timed->endNs, t.deviceId = r.deviceId,
        t.contextId = r.contextId, t.streamId = r.streamId, t.correlationId = r.correlationId,
        t.globalPid = process_.processId(), t.value = r.value, t.bytes = r.bytes,
        t.graphNodeId = unlessZero(r.graphNodeId), t.memKind = memoryKindOfCupti(r.memoryKind));
}

void ActivityImporter::add(const log::GraphRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Graph, r.startNs, r.endNs);
    constexpr const auto& t = tables::graphs;
    if (!timed) return addUntimed(t, r);
    // CUPTI numbers graphs that were made ready to run and says nothing of what they were made of.
    process_.trace.add(t, t.start = timed->startNs, t.end = timed->endNs, t.deviceId = r.deviceId,
                       t.contextId = r.contextId, t.streamId = r.streamId,
                       t.correlationId = r.correlationId, t.globalPid = process_.processId(),
                       t.graphId = r.graphId, t.graphExecId = r.graphId);
}

void ActivityImporter::add(const log::GraphNodeRecord& r) {
    const int64_t time = process_.time(r.timestampNs);
    constexpr const auto& t = tables::graphNodes;
    process_.trace.add(t, t.start = time, t.end = time,
                       t.eventClass = tables::GraphNodes::nodeCreation,
                       t.globalTid = process_.threadId(r.threadId),
                       t.nameId = process_.trace.intern(tables::GraphNodes::eventName),
                       t.graphNodeId = r.node, t.originalGraphNodeId = unlessZero(r.original));
    const int64_t row = process_.trace.lastRow();
    if (const auto stack = process_.stacks.traceId(r.stack)) {
        constexpr const auto& s = tables::graphNodeStacks;
        process_.trace.add(s, s.nodeRow = row, s.callchainId = *stack);
    }
}

void ActivityImporter::add(const log::ApiRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Api, r.startNs, r.endNs);
    constexpr const auto& t = tables::apiCalls;
    if (!timed) return addUntimed(t, r, process_.strings.traceId(r.name));
    process_.trace.add(t, t.start = timed->startNs, t.end = timed->endNs,
                       t.eventClass = r.isDriver != 0 ? driverClass : runtimeClass,
                       t.globalTid = process_.threadId(r.threadId),
                       t.correlationId = r.correlationId,
                       t.nameId = process_.strings.traceId(r.name), t.returnValue = r.returnValue,
                       t.callchainId = process_.stacks.traceId(r.stack));
}

void ActivityImporter::add(const log::SyncRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Sync, r.startNs, r.endNs);
    constexpr const auto& t = tables::syncs;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(t, t.start = timed->startNs, t.end = timed->endNs,
                       t.deviceId = deviceOf(r.contextId), t.contextId = r.contextId,
                       t.streamId = r.streamId, t.correlationId = r.correlationId,
                       t.globalPid = process_.processId(), t.syncType = r.type,
                       t.eventId = r.eventId, t.eventSyncId = r.eventSyncId);
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
    const std::optional<TimeRange> timed = times(ImportedKind::Overhead, r.startNs, r.endNs);
    const OverheadName overhead = overheadName(r.overheadKind);
    constexpr const auto& t = tables::overheads;
    if (!timed) return addUntimed(t, r, process_.trace.intern(overhead.name));
    process_.trace.add(
        t, t.start = timed->startNs, t.end = timed->endNs, t.eventClass = overheadClass,
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
