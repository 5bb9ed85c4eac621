// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/MemoryImporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/collector/cuptiNumbers.h"
#include "capture/collector/unless.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/MemoryEvents.h"
#include "model/format/tables/PageFaults.h"
#include "model/format/tables/Recording.h"

namespace lanescope::capture {

namespace {

// CUPTI's numbers.
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
/// Memory moved since it was touched where it was not.
constexpr uint32_t forCoherence = 2;
/// More than a record of a real GPU counts, and few enough to be summed up.
constexpr uint64_t mostFaultsOfRecord = uint64_t{1} << 40;

// Of `ENUM_CUDA_DEV_MEM_EVENT_OPER`.
constexpr int allocation = 0, deallocation = 1;

/// NULL for what is the CPU's.
std::optional<uint32_t> deviceIn(uint32_t id) {
    return id != cpuId ? std::optional(id) : std::nullopt;
}

}  // namespace

std::optional<int64_t> MemoryImporter::timeOf(int64_t realtimeNs) {
    if (realtimeNs == 0) return std::nullopt;
    return process_.time(realtimeNs);
}

template <class Record>
void MemoryImporter::addUntimed(const tables::Table& table, const Record& r) {
    constexpr const auto& u = tables::untimed;
    process_.trace.add(u, u.inTable = table.tableName(), u.globalPid = process_.processId(),
                       u.deviceId = r.deviceId, u.correlationId = unlessZero(r.correlationId));
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
    process_.trace.add(
        t, t.start = *time, t.globalPid = process_.processId(), t.deviceId = r.deviceId,
        t.contextId = r.contextId, t.address = r.address, t.pc = r.programCounter,
        t.bytes = r.bytes, t.memKind = memoryKindOfCupti(r.memoryKind),
        t.memoryOperationType = r.operation == allocated ? allocation : deallocation, t.name = name,
        t.correlationId = unlessZero(r.correlationId), t.streamId = r.streamId,
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
        t, t.start = *time, t.globalPid = process_.processId(), t.deviceId = r.deviceId,
        t.address = r.address, t.operationType = r.operation, t.poolType = r.poolType,
        t.correlationId = unlessZero(r.correlationId), t.minBytesToKeep = r.minimumBytesToKeep,
        t.localMemoryPoolReleaseThreshold = inLocalPool(r.releaseThreshold),
        t.localMemoryPoolSize = inLocalPool(r.bytes),
        t.localMemoryPoolUtilizedSize = inLocalPool(r.usedBytes));
}

void MemoryImporter::add(const log::UnifiedMemoryRecord& r) {
    switch (r.counterKind) {
        case movedToDevice:
            if (r.flags == forCoherence) ++movesForFaults_;
            return addMigration(r, MemcpyKind::UvmHtoD);
        case movedToHost:
            return addMigration(r, MemcpyKind::UvmDtoH);
        case movedBetweenDevices:
            return addMigration(r, MemcpyKind::UvmDtoD);
        case cpuFault:
            return addCpuFault(r);
        case gpuFault:
            return addGpuFault(r);
        case thrashing:
            ++thrashings_;
            return;
        case throttling:
            ++throttlings_;
            return;
        default:
            // Such as memory that was mapped and did not move.
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
        process_.trace.add(u, u.inTable = t.tableName(), u.globalPid = process_.processId(),
                           u.deviceId = device, u.copyKind = kind);
        return;
    }
    // It belongs to the driver and to no context or stream, for which the table has no NULL.
    process_.trace.add(
        t, t.start = process_.time(r.startNs), t.end = process_.time(r.endNs), t.deviceId = device,
        t.contextId = 0, t.streamId = 0, t.globalPid = process_.processId(), t.bytes = r.value,
        t.copyKind = kind, t.srcKind = MemoryKind::Managed, t.dstKind = MemoryKind::Managed,
        t.srcDeviceId = deviceIn(r.sourceId), t.dstDeviceId = deviceIn(r.destinationId),
        t.migrationCause = r.flags, t.virtualAddress = r.address);
}

void MemoryImporter::addCpuFault(const log::UnifiedMemoryRecord& r) {
    ++counts_.of(ImportedKind::CpuPageFault);
    constexpr const auto& t = tables::cpuPageFaults;
    // CUPTI gives the instruction that faulted as the value.
    process_.trace.add(t, t.start = timeOf(r.startNs), t.globalPid = process_.processId(),
                       t.address = r.address, t.originalFaultPc = r.value,
                       t.cpuInstruction = process_.trace.intern(fmt::format("0x{:x}", r.value)),
                       t.unresolvedFaultPc = 1);
}

void MemoryImporter::addGpuFault(const log::UnifiedMemoryRecord& r) {
    counts_.of(ImportedKind::GpuPageFault) +=
        static_cast<int64_t>(std::min(r.value, mostFaultsOfRecord));
    ++gpuFaults_;
    const std::optional<int64_t> start = timeOf(r.startNs);
    const std::optional<int64_t> end = r.endNs != 0 ? timeOf(r.endNs) : start;
    constexpr const auto& t = tables::gpuPageFaults;
    process_.trace.add(t, t.start = start, t.end = end, t.globalPid = process_.processId(),
                       t.deviceId = r.sourceId, t.address = r.address,
                       t.numberOfPageFaults = r.value, t.faultAccessType = r.flags);
}

}  // namespace lanescope::capture
