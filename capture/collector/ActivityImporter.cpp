// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/ActivityImporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/collector/TraceWriter.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Session.h"

namespace lanescope::capture {

namespace {

// a value of ENUM_NSYS_EVENT_CLASS
constexpr int runtimeClass = 0;
constexpr int driverClass = 1;
constexpr int overheadClass = 103;

struct OverheadName {
    int type;  ///< a value of ENUM_CUPTI_OVERHEAD_TYPE
    const char* name;
};

OverheadName overheadName(uint32_t cuptiKind) {
    switch (cuptiKind) {
        case 1: return {2, "Driver compiler"};
        case 1 << 16: return {3, "CUPTI buffer flush"};
        case 2 << 16: return {4, "CUPTI instrumentation"};
        case 3 << 16: return {5, "CUPTI resource"};
        case 4 << 16: return {6, "Module loading"};
        case 5 << 16: return {7, "Lazy function loading"};
        case 6 << 16: return {8, "Command buffer full"};
        case 7 << 16: return {1, "CUPTI buffer request"};
        default: return {1, "Unknown overhead"};
    }
}

constexpr uint8_t allocated = 1, freed = 2;
constexpr uint8_t poolTrimmed = 3;
constexpr uint8_t localPool = 1, importedPool = 2;
enum UnifiedCounter : uint32_t {
    movedToDevice = 1,
    movedToHost = 2,
    cpuFault = 3,
    gpuFault = 4,
    thrashing = 5,
    throttling = 6,
    movedBetweenDevices = 8,
};
constexpr uint32_t cpuId = 0xffffffff;
/// Memory moved after an access from the other side.
constexpr uint32_t forCoherence = 2;
/// Maximum faults of a record. Real records have fewer, and sums stay in range.
constexpr uint64_t maxFaultsPerRecord = uint64_t{1} << 40;

// values of `ENUM_CUDA_DEV_MEM_EVENT_OPER`
constexpr int allocation = 0, deallocation = 1;

std::optional<uint32_t> deviceIn(uint32_t id) { return id != cpuId ? std::optional(id) : std::nullopt; }

}  // namespace

/// Returns nullopt if CUPTI reported no timestamps.
std::optional<TimeRange> ActivityImporter::times(ImportedKind kind, int64_t startNs, int64_t endNs) {
    ++counts_.of(kind);
    if (startNs == 0 && endNs == 0) {
        ++counts_.untimed[static_cast<size_t>(kind)];
        return std::nullopt;
    }
    latestNs_ = std::max(latestNs_, endNs);
    return TimeRange{process_.time(startNs), process_.time(endNs)};
}

/// Writes the record without times to a separate table, so that calculations with times skip it.
void ActivityImporter::addUntimed(const tables::Table& table, const auto& r, std::optional<int64_t> name) {
    std::optional<int64_t> thread, device, context, stream;
    if constexpr (requires { r.threadId; }) thread = process_.threadId(r.threadId);
    if constexpr (requires { r.deviceId; }) device = r.deviceId;
    if constexpr (requires { r.contextId; }) context = r.contextId;
    if constexpr (requires { r.streamId; }) stream = r.streamId;
    constexpr const auto& t = tables::untimed;
    process_.trace.add(t, t.inTable = table.tableName(), t.globalPid = process_.processId(), t.globalTid = thread,
                       t.deviceId = device, t.contextId = context, t.streamId = stream,
                       t.correlationId = r.correlationId, t.nameId = name);
}

GpuWorkRow ActivityImporter::workOf(TimeRange times, int64_t device, const auto& r) const {
    return {times.startNs, times.endNs, process_.processId(), device, r.contextId, r.streamId, r.correlationId};
}

int64_t ActivityImporter::deviceOf(uint32_t contextId) const {
    const auto found = deviceByContext_.find(contextId);
    return found == deviceByContext_.end() ? -1 : int64_t{found->second};
}

/// Notes the device of a context, which CUPTI does not report if it was loaded later.
void ActivityImporter::noteContext(uint32_t contextId, uint32_t deviceId) {
    if (std::exchange(latestContext_, contextId) != contextId) deviceByContext_.try_emplace(contextId, deviceId);
}

void ActivityImporter::add(const log::KernelRecord& r) {
    noteContext(r.contextId, r.deviceId);
    const std::optional<TimeRange> timed = times(ImportedKind::Kernel, r.startNs, r.endNs);
    const LogStrings::KernelNames names = process_.strings.kernelNames(r.name);
    constexpr const auto& t = tables::kernels;
    if (!timed) return addUntimed(t, r, names.brief);
    process_.trace.add(t, workOf(*timed, r.deviceId, r), t.demangledName = names.demangled, t.shortName = names.brief,
                       t.mangledName = names.mangled, t.launchType = r.launchType, t.cacheConfig = r.cacheConfig,
                       t.registersPerThread = r.registersPerThread, t.gridX = r.grid[0], t.gridY = r.grid[1],
                       t.gridZ = r.grid[2], t.blockX = r.block[0], t.blockY = r.block[1], t.blockZ = r.block[2],
                       t.staticSharedMemory = r.staticSharedBytes, t.dynamicSharedMemory = r.dynamicSharedBytes,
                       t.localMemoryPerThread = r.localBytesPerThread, t.localMemoryTotal = r.localBytesTotal,
                       t.gridId = r.gridId, t.sharedMemoryExecuted = r.sharedBytesExecuted,
                       t.graphNodeId = nullIfZero(r.graphNodeId), t.sharedMemoryLimitConfig = r.sharedMemoryLimitConfig,
                       t.graphId = nullIfZero(r.graphId), t.clusterX = r.cluster[0], t.clusterY = r.cluster[1],
                       t.clusterZ = r.cluster[2], t.clusterSchedulingPolicy = r.clusterSchedulingPolicy,
                       t.sharedMemoryRequestedPercentage = r.sharedMemoryCarveoutPercent);
}

void ActivityImporter::add(const log::MemcpyRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Memcpy, r.startNs, r.endNs);
    const auto ofPeer = [&](uint32_t value) { return r.isPeer != 0 ? std::optional<uint32_t>(value) : std::nullopt; };
    constexpr const auto& t = tables::memcpys;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(t, workOf(*timed, r.deviceId, r), t.bytes = r.bytes, t.copyKind = memcpyKindFrom(r.copyKind),
                       t.srcKind = memoryKindOfCupti(r.sourceKind), t.dstKind = memoryKindOfCupti(r.destinationKind),
                       t.srcDeviceId = ofPeer(r.sourceDeviceId), t.srcContextId = ofPeer(r.sourceContextId),
                       t.dstDeviceId = ofPeer(r.destinationDeviceId), t.dstContextId = ofPeer(r.destinationContextId),
                       t.graphNodeId = nullIfZero(r.graphNodeId));
}

void ActivityImporter::add(const log::MemsetRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Memset, r.startNs, r.endNs);
    constexpr const auto& t = tables::memsets;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(t, workOf(*timed, r.deviceId, r), t.value = r.value, t.bytes = r.bytes,
                       t.graphNodeId = nullIfZero(r.graphNodeId), t.memKind = memoryKindOfCupti(r.memoryKind));
}

void ActivityImporter::add(const log::GraphRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Graph, r.startNs, r.endNs);
    constexpr const auto& t = tables::graphs;
    if (!timed) return addUntimed(t, r);
    // CUPTI numbers instantiated graphs and does not report their source graphs.
    process_.trace.add(t, workOf(*timed, r.deviceId, r), t.graphId = r.graphId, t.graphExecId = r.graphId);
}

void ActivityImporter::add(const log::GraphNodeRecord& r) {
    if (!graphNodes_.emplace(r.node, r.timestampNs).second) return;
    process_.trace.add(GraphNodeRow{process_.time(r.timestampNs), process_.threadId(r.threadId),
                                    process_.trace.intern(tables::GraphNodes::eventName), r.node, r.original,
                                    process_.stacks.traceId(r.stack)});
}

void ActivityImporter::add(const log::ApiRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Api, r.startNs, r.endNs);
    constexpr const auto& t = tables::apiCalls;
    if (!timed) return addUntimed(t, r, process_.strings.traceId(r.name));
    process_.trace.add(t, t.start = timed->startNs, t.end = timed->endNs,
                       t.eventClass = r.isDriver != 0 ? driverClass : runtimeClass,
                       t.globalTid = process_.threadId(r.threadId), t.correlationId = r.correlationId,
                       t.nameId = process_.strings.traceId(r.name), t.returnValue = r.returnValue,
                       t.callchainId = process_.stacks.traceId(r.stack));
}

void ActivityImporter::add(const log::SyncRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Sync, r.startNs, r.endNs);
    constexpr const auto& t = tables::syncs;
    if (!timed) return addUntimed(t, r);
    process_.trace.add(t, workOf(*timed, deviceOf(r.contextId), r), t.syncType = r.type, t.eventId = r.eventId,
                       t.eventSyncId = r.eventSyncId);
}

void ActivityImporter::add(const log::CudaEventRecord& r) {
    ++counts_.of(ImportedKind::CudaEvent);
    // They have no time unless requested, which is no loss.
    std::optional<int64_t> time;
    if (r.timestampNs != 0) time = process_.time(r.timestampNs);
    constexpr const auto& t = tables::cudaEvents;
    process_.trace.add(t, t.timestamp = time, t.deviceId = r.deviceId, t.contextId = r.contextId,
                       t.streamId = r.streamId, t.correlationId = r.correlationId, t.globalPid = process_.processId(),
                       t.eventId = r.eventId, t.eventSyncId = r.eventSyncId);
}

void ActivityImporter::add(const log::OverheadRecord& r) {
    const std::optional<TimeRange> timed = times(ImportedKind::Overhead, r.startNs, r.endNs);
    const OverheadName overhead = overheadName(r.overheadKind);
    constexpr const auto& t = tables::overheads;
    if (!timed) return addUntimed(t, r, process_.trace.intern(overhead.name));
    process_.trace.add(t, t.start = timed->startNs, t.end = timed->endNs, t.eventClass = overheadClass,
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
    noteContext(r.contextId, r.deviceId);
    if (!contexts_.insert(r.contextId).second) return;
    constexpr const auto& context = tables::contexts;
    process_.trace.add(context, context.nullStreamId = r.nullStreamId, context.hwId = process_.host,
                       context.vmId = virtualMachine, context.processId = process_.pid, context.deviceId = r.deviceId,
                       context.contextId = r.contextId);
    constexpr const auto& stream = tables::nullStreams;
    process_.trace.add(stream, stream.streamId = r.nullStreamId, stream.hwId = process_.host,
                       stream.vmId = virtualMachine, stream.processId = process_.pid, stream.deviceId = r.deviceId,
                       stream.contextId = r.contextId);
}

void ActivityImporter::add(const log::StreamRecord& r) {
    if (!streams_.emplace(r.contextId, r.streamId).second) return;
    constexpr const auto& t = tables::streams;
    process_.trace.add(t, t.streamId = r.streamId, t.hwId = process_.host, t.vmId = virtualMachine,
                       t.processId = process_.pid, t.contextId = r.contextId,
                       t.priority = static_cast<int32_t>(r.priority), t.flag = r.flag);
}

std::optional<int64_t> MemoryImporter::timeOf(int64_t realtimeNs) {
    if (realtimeNs == 0) return std::nullopt;
    return process_.time(realtimeNs);
}

void MemoryImporter::addUntimed(const tables::Table& table, const auto& r) {
    constexpr const auto& u = tables::untimed;
    process_.trace.add(u, u.inTable = table.tableName(), u.globalPid = process_.processId(), u.deviceId = r.deviceId,
                       u.correlationId = nullIfZero(r.correlationId));
}

void MemoryImporter::add(const log::DeviceMemoryRecord& r) {
    if (r.operation != allocated && r.operation != freed) {
        ++oddRecords_;
        return;
    }
    ++counts_.of(ImportedKind::MemoryEvent);
    constexpr const auto& t = tables::memoryEvents;
    const std::optional<int64_t> time = timeOf(r.timestampNs);
    if (!time) {
        ++counts_.untimed[static_cast<size_t>(ImportedKind::MemoryEvent)];
        return addUntimed(t, r);
    }
    const auto inPool = [&](uint8_t type, auto value) {
        return r.poolAddress != 0 && r.poolType == type ? std::optional(value) : std::nullopt;
    };
    std::optional<std::string_view> name;
    if (r.name != 0) name = process_.strings.text(r.name);
    process_.trace.add(t, t.start = *time, t.globalPid = process_.processId(), t.deviceId = r.deviceId,
                       t.contextId = r.contextId, t.address = r.address, t.pc = r.programCounter, t.bytes = r.bytes,
                       t.memKind = memoryKindOfCupti(r.memoryKind),
                       t.memoryOperationType = r.operation == allocated ? allocation : deallocation, t.name = name,
                       t.correlationId = nullIfZero(r.correlationId), t.streamId = r.streamId,
                       t.localMemoryPoolAddress = inPool(localPool, r.poolAddress),
                       t.localMemoryPoolReleaseThreshold = inPool(localPool, r.poolReleaseThreshold),
                       t.localMemoryPoolSize = inPool(localPool, r.poolBytes),
                       t.localMemoryPoolUtilizedSize = inPool(localPool, r.poolUsedBytes),
                       t.importedMemoryPoolAddress = inPool(importedPool, r.poolAddress),
                       t.importedMemoryPoolProcessId = inPool(importedPool, r.poolProcessId));
}

void MemoryImporter::add(const log::MemoryPoolRecord& r) {
    if (r.operation < 1 || r.operation > poolTrimmed) {
        ++oddRecords_;
        return;
    }
    const auto inLocalPool = [&](uint64_t value) {
        return r.poolType == localPool ? std::optional(value) : std::nullopt;
    };
    constexpr const auto& t = tables::poolEvents;
    const std::optional<int64_t> time = timeOf(r.timestampNs);
    if (!time) return addUntimed(t, r);
    process_.trace.add(
        t, t.start = *time, t.globalPid = process_.processId(), t.deviceId = r.deviceId, t.address = r.address,
        t.operationType = r.operation, t.poolType = r.poolType, t.correlationId = nullIfZero(r.correlationId),
        t.minBytesToKeep = r.minimumBytesToKeep, t.localMemoryPoolReleaseThreshold = inLocalPool(r.releaseThreshold),
        t.localMemoryPoolSize = inLocalPool(r.bytes), t.localMemoryPoolUtilizedSize = inLocalPool(r.usedBytes));
}

void MemoryImporter::add(const log::UnifiedMemoryRecord& r) {
    switch (r.counterKind) {
        case movedToDevice:
            if (r.flags == forCoherence) ++movesForFaults_;
            return addMigration(r, MemcpyKind::UvmHtoD);
        case movedToHost: return addMigration(r, MemcpyKind::UvmDtoH);
        case movedBetweenDevices: return addMigration(r, MemcpyKind::UvmDtoD);
        case cpuFault: return addCpuFault(r);
        case gpuFault: return addGpuFault(r);
        case thrashing: ++thrashings_; return;
        case throttling: ++throttlings_; return;
        default:
            // For example memory that was mapped and did not move.
            return;
    }
}

void MemoryImporter::addMigration(const log::UnifiedMemoryRecord& r, MemcpyKind kind) {
    ++counts_.of(ImportedKind::Migration);
    const uint32_t device = kind == MemcpyKind::UvmDtoH ? r.sourceId : r.destinationId;
    constexpr const auto& t = tables::memcpys;
    if (r.startNs == 0 && r.endNs == 0) {
        ++counts_.untimed[static_cast<size_t>(ImportedKind::Migration)];
        constexpr const auto& u = tables::untimed;
        process_.trace.add(u, u.inTable = t.tableName(), u.globalPid = process_.processId(), u.deviceId = device,
                           u.copyKind = kind);
        return;
    }
    // Belongs to the driver and to no context or stream, for which the table has no NULL.
    process_.trace.add(t, t.start = process_.time(r.startNs), t.end = process_.time(r.endNs), t.deviceId = device,
                       t.contextId = 0, t.streamId = 0, t.globalPid = process_.processId(), t.bytes = r.value,
                       t.copyKind = kind, t.srcKind = MemoryKind::Managed, t.dstKind = MemoryKind::Managed,
                       t.srcDeviceId = deviceIn(r.sourceId), t.dstDeviceId = deviceIn(r.destinationId),
                       t.migrationCause = r.flags, t.virtualAddress = r.address);
}

void MemoryImporter::addCpuFault(const log::UnifiedMemoryRecord& r) {
    ++counts_.of(ImportedKind::CpuPageFault);
    constexpr const auto& t = tables::cpuPageFaults;
    // CUPTI reports the faulting instruction as the value.
    process_.trace.add(t, t.start = timeOf(r.startNs), t.globalPid = process_.processId(), t.address = r.address,
                       t.originalFaultPc = r.value,
                       t.cpuInstruction = process_.trace.intern(fmt::format("0x{:x}", r.value)),
                       t.unresolvedFaultPc = 1);
}

void MemoryImporter::addGpuFault(const log::UnifiedMemoryRecord& r) {
    counts_.of(ImportedKind::GpuPageFault) += static_cast<int64_t>(std::min(r.value, maxFaultsPerRecord));
    ++gpuFaults_;
    const std::optional<int64_t> start = timeOf(r.startNs);
    const std::optional<int64_t> end = r.endNs != 0 ? timeOf(r.endNs) : start;
    constexpr const auto& t = tables::gpuPageFaults;
    process_.trace.add(t, t.start = start, t.end = end, t.globalPid = process_.processId(), t.deviceId = r.sourceId,
                       t.address = r.address, t.numberOfPageFaults = r.value, t.faultAccessType = r.flags);
}

}  // namespace lanescope::capture
