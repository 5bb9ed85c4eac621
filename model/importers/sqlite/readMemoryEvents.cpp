// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/format/tables/Cuda.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/Statistics.h"
#include "model/trace/kinds/MemoryEvent.h"

namespace lanescope {

namespace {

// `ENUM_CUDA_DEV_MEM_EVENT_OPER`.
constexpr int64_t allocation = 0, deallocation = 1;
// `ENUM_CUDA_MEMPOOL_OPER`.
constexpr int64_t poolDestroyed = 2;
constexpr int64_t localPool = 1;  ///< `ENUM_CUDA_MEMPOOL_TYPE`.

/// Time, owner and GPU, which every row needs.
struct MemoryPlace {
    int64_t timeNs;
    uint32_t process;
    uint32_t gpu;
};

/// Returns nullopt for an untimed or invalid row. Both are tallied.
template <class Table>
std::optional<MemoryPlace> readPlace(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> timeNs = reader.time(table.start);
    if (!timeNs) return std::nullopt;
    const uint32_t process = ownerIn(reader, table, identities);
    const uint32_t gpu = process != noIndex ? identities.gpuOf(process, reader.integerOr(table.deviceId, -1)) : noIndex;
    if (reader.skipRowIf(gpu == noIndex)) return std::nullopt;
    return MemoryPlace{*timeNs, process, gpu};
}

void addPool(TraceBuilder& builder, const MemoryPlace& place, int64_t address, int64_t bytes) {
    builder.add<kinds::MemoryPool>({.timeNs = place.timeNs,
                                    .bytes = bytes,
                                    .address = static_cast<uint64_t>(address),
                                    .process = place.process,
                                    .gpu = place.gpu});
}

void readUsage(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::memoryEvents;
    TableReader reader(context, t,
                       {t.start, t.globalPid, t.deviceId, t.address, t.bytes, t.memKind, t.memoryOperationType,
                        t.correlationId, t.localMemoryPoolAddress, t.localMemoryPoolSize, t.importedMemoryPoolAddress},
                       "memory events");
    while (reader.next()) {
        const std::optional<MemoryPlace> place = readPlace(reader, t, directory.identities);
        if (!place) continue;
        const int64_t what = reader.integerOr(t.memoryOperationType, -1);
        const std::optional<int64_t> at = reader.integer(t.address);
        if (reader.skipRowIf((what != allocation && what != deallocation) || !at)) continue;
        const std::optional<int64_t> kind = reader.integer(t.memKind);
        context.builder().add<kinds::MemoryEvent>(
            {.timeNs = place->timeNs,
             .bytes = reader.bytes(t.bytes),
             .address = static_cast<uint64_t>(*at),
             .kind = kind ? directory.kinds.memoryKind(*kind) : MemoryKind::Unknown,
             .isFree = what == deallocation,
             .isPooled = !reader.isNull(t.localMemoryPoolAddress) || !reader.isNull(t.importedMemoryPoolAddress),
             .process = place->process,
             .gpu = place->gpu,
             .correlation = reader.unsigned32(t.correlationId)});
        if (!reader.isNull(t.localMemoryPoolAddress) && !reader.isNull(t.localMemoryPoolSize))
            addPool(context.builder(), *place, reader.integerOr(t.localMemoryPoolAddress, 0),
                    reader.bytes(t.localMemoryPoolSize));
    }
    if (reader.totalCount() > 0) reader.countAs(kinds::MemoryEvent::plural);
}

void readPools(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::poolEvents;
    TableReader reader(
        context, t, {t.start, t.globalPid, t.deviceId, t.address, t.operationType, t.poolType, t.localMemoryPoolSize},
        "memory pools");
    while (reader.next()) {
        const std::optional<MemoryPlace> place = readPlace(reader, t, directory.identities);
        const std::optional<int64_t> at = place ? reader.integer(t.address) : std::nullopt;
        // The exporting process counts the memory of an imported pool.
        if (!at || reader.integerOr(t.poolType, localPool) != localPool) continue;
        const bool isGone = reader.integerOr(t.operationType, 0) == poolDestroyed;
        addPool(context.builder(), *place, *at, isGone ? 0 : reader.bytes(t.localMemoryPoolSize));
    }
}

void readOfCpu(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::cpuPageFaults;
    TableReader reader(context, t, {t.start, t.globalPid, t.address, t.cpuInstruction}, "page faults");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(t.start);
        if (!timeNs) continue;
        const uint32_t process = ownerIn(reader, t, directory.identities);
        if (reader.skipRowIf(process == noIndex)) continue;
        context.builder().add<kinds::PageFault>(
            {*timeNs, *timeNs}, {.address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
                                 .process = process,
                                 .instruction = reader.string(t.cpuInstruction, directory.strings).value_or(0)});
    }
    if (reader.rowCount() > 0) reader.countAs(tables::cpuFaultsCounted);
}

void readOfGpus(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::gpuPageFaults;
    TableReader reader(context, t, "page faults");
    int64_t faults = 0, untimed = 0;  // a row represents several faults
    while (reader.next()) {
        const int64_t of = std::max<int64_t>(0, reader.integerOr(t.numberOfPageFaults, 1));
        const int64_t untimedRows = reader.untimedCount();
        const std::optional<TimeRange> times = reader.times(t.start, t.end);
        faults = saturatingSum(faults, of);
        if (reader.untimedCount() > untimedRows) untimed = saturatingSum(untimed, of);
        if (!times) continue;
        const uint32_t process = ownerIn(reader, t, directory.identities);
        const uint32_t gpu =
            process == noIndex ? noIndex : directory.identities.gpuOf(process, reader.integerOr(t.deviceId, -1));
        if (reader.skipRowIf(gpu == noIndex)) continue;
        context.builder().add<kinds::PageFault>(
            *times, {.address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
                     .count = of,
                     .access = enumeratorFrom(reader.integerOr(t.faultAccessType, 0), FaultAccess::Prefetch),
                     .process = process,
                     .gpu = gpu});
    }
    if (reader.rowCount() > 0) context.builder().count(tables::gpuFaultsCounted, faults, untimed);
}

}  // namespace

void readMemoryEvents(LoadContext& context, FileDirectory& directory) {
    readUsage(context, directory);
    readPools(context, directory);
}

void readUnifiedMemory(LoadContext& context, FileDirectory& directory) {
    readOfCpu(context, directory);
    readOfGpus(context, directory);
}

}  // namespace lanescope
