#include "capture/collector/MemoryImporter.h"

#include <fmt/format.h>

#include "capture/collector/cuptiNumbers.h"

namespace lanescope {

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

void MemoryImporter::add(const log::DeviceMemoryRecord& r) {
    if (r.operation != allocated && r.operation != freed) {
        ++oddRecords_;
        return;
    }
    ++counts_.of(ImportedKind::MemoryEvent);
    const std::optional<int64_t> time = timeOf(r.timestampNs);
    if (!time) ++counts_.untimed[static_cast<size_t>(ImportedKind::MemoryEvent)];
    const auto inPool = [&](uint8_t type, auto value) {
        return r.poolAddress != 0 && r.poolType == type ? std::optional(value) : std::nullopt;
    };
    std::optional<std::string_view> name;
    if (r.name != 0) name = process_.strings.text(r.name);
    process_.trace.memoryEvents.insert(
        time, process_.processId(), r.deviceId, r.contextId, r.address, r.programCounter, r.bytes,
        memoryKindOfCupti(r.memoryKind), r.operation == allocated ? allocation : deallocation, name,
        unlessZero(r.correlationId), r.streamId, inPool(localPool, r.poolAddress),
        inPool(localPool, r.poolReleaseThreshold), inPool(localPool, r.poolBytes),
        inPool(localPool, r.poolUsedBytes), inPool(importedPool, r.poolAddress),
        inPool(importedPool, r.poolProcessId));
}

void MemoryImporter::add(const log::MemoryPoolRecord& r) {
    if (r.operation < 1 || r.operation > poolTrimmed) {
        ++oddRecords_;
        return;
    }
    const auto inLocalPool = [&](uint64_t value) {
        return r.poolType == localPool ? std::optional(value) : std::nullopt;
    };
    process_.trace.poolEvents.insert(
        timeOf(r.timestampNs), process_.processId(), r.deviceId, r.address, r.operation, r.poolType,
        unlessZero(r.correlationId), r.minimumBytesToKeep, inLocalPool(r.releaseThreshold),
        inLocalPool(r.bytes), inLocalPool(r.usedBytes));
}

void MemoryImporter::add(const log::UnifiedMemoryRecord& r) {
    switch (r.counterKind) {
        case movedToDevice:
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
    ++counts_.of(ImportedKind::Memcpy);
    std::optional<int64_t> start, end;
    if (r.startNs == 0 && r.endNs == 0) {
        ++counts_.untimed[static_cast<size_t>(ImportedKind::Memcpy)];
    } else {
        start = process_.time(r.startNs);
        end = process_.time(r.endNs);
    }
    const uint32_t device = kind == MemcpyKind::UvmDtoH ? r.sourceId : r.destinationId;
    // It belongs to the driver and to no context or stream, for which the table has no NULL.
    process_.trace.migrations.insert(start, end, device, 0, 0, process_.processId(), r.value, kind,
                                     MemoryKind::Managed, MemoryKind::Managed, deviceIn(r.sourceId),
                                     deviceIn(r.destinationId), r.flags, r.address);
}

void MemoryImporter::addCpuFault(const log::UnifiedMemoryRecord& r) {
    ++counts_.of(ImportedKind::PageFault);
    // CUPTI gives the instruction that faulted as the value.
    process_.trace.cpuPageFaults.insert(
        timeOf(r.startNs), process_.processId(), r.address, r.value,
        process_.trace.strings.intern(fmt::format("0x{:x}", r.value)));
}

void MemoryImporter::addGpuFault(const log::UnifiedMemoryRecord& r) {
    ++counts_.of(ImportedKind::PageFault);
    const std::optional<int64_t> start = timeOf(r.startNs);
    const std::optional<int64_t> end = r.endNs != 0 ? timeOf(r.endNs) : start;
    process_.trace.gpuPageFaults.insert(start, end, process_.processId(), r.sourceId, r.address,
                                        r.value, r.flags);
}

}  // namespace lanescope
