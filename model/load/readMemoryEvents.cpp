#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

// Of `ENUM_CUDA_DEV_MEM_EVENT_OPER`.
constexpr int64_t allocation = 0, deallocation = 1;
// Of `ENUM_CUDA_MEMPOOL_OPER`.
constexpr int64_t poolDestroyed = 2;
constexpr int64_t localPool = 1;  ///< Of `ENUM_CUDA_MEMPOOL_TYPE`.

/// When, whose and where: what every row must say.
struct MemoryPlace {
    int64_t timeNs;
    uint32_t process;
    uint32_t gpu;
};

/// Nothing for a row that was not timed or makes no sense; both are tallied. Columns 0 to 2 hold
/// start, process and device.
std::optional<MemoryPlace> readPlace(RowReader& reader, Identities& identities) {
    const std::optional<int64_t> timeNs = reader.time(0);
    if (!timeNs) return std::nullopt;
    const std::optional<int64_t> pid = reader.integer(1);
    const uint32_t process = pid ? identities.process(*pid) : identities.unnamedProcess();
    const uint32_t gpu =
        process != noIndex ? identities.gpuOf(process, reader.integerOr(2, -1)) : noIndex;
    if (gpu == noIndex) {
        reader.skipRow();
        return std::nullopt;
    }
    return MemoryPlace{*timeNs, process, gpu};
}

void addPool(Trace& trace, const MemoryPlace& place, int64_t address, int64_t bytes) {
    MemoryPoolTable& table = trace.memoryPools;
    table.timeNs.push_back(place.timeNs);
    table.bytes.push_back(bytes);
    table.address.push_back(static_cast<uint64_t>(address));
    table.process.push_back(place.process);
    table.gpu.push_back(place.gpu);
}

void readUsage(LoadContext& context, FileDirectory& directory) {
    enum Column {
        start,
        globalPid,
        deviceId,
        address,
        bytes,
        memKind,
        operation,
        correlation,
        poolAddress,
        poolBytes,
        importedPoolAddress
    };
    TableReader reader(context, "CUDA_GPU_MEMORY_USAGE_EVENTS",
                       {"start", "globalPid", "deviceId", "address", "bytes", "memKind",
                        "memoryOperationType", "correlationId", "localMemoryPoolAddress",
                        "localMemoryPoolSize", "importedMemoryPoolAddress"},
                       "memory events");
    MemoryEventTable& table = context.trace().memoryEvents;
    while (reader.next()) {
        const std::optional<MemoryPlace> place = readPlace(reader, directory.identities);
        if (!place) continue;
        const int64_t what = reader.integerOr(operation, -1);
        const std::optional<int64_t> at = reader.integer(address);
        if ((what != allocation && what != deallocation) || !at) {
            reader.skipRow();
            continue;
        }
        const std::optional<int64_t> kind = reader.integer(memKind);
        table.timeNs.push_back(place->timeNs);
        table.bytes.push_back(reader.bytes(bytes));
        table.address.push_back(static_cast<uint64_t>(*at));
        table.kind.push_back(kind ? directory.kinds.memoryKind(*kind) : MemoryKind::Unknown);
        table.isFree.push_back(what == deallocation ? 1 : 0);
        table.isPooled.push_back(
            reader.isNull(poolAddress) && reader.isNull(importedPoolAddress) ? 0 : 1);
        table.process.push_back(place->process);
        table.gpu.push_back(place->gpu);
        table.correlation.push_back(reader.unsigned32(correlation));
        if (!reader.isNull(poolAddress) && !reader.isNull(poolBytes))
            addPool(context.trace(), *place, reader.integerOr(poolAddress, 0),
                    reader.bytes(poolBytes));
    }
    if (reader.hasTable() && reader.rowCount() > 0)
        context.trace().counts.push_back(
            {"memory events", reader.rowCount(), reader.untimedCount()});
}

void readPools(LoadContext& context, FileDirectory& directory) {
    enum Column { start, globalPid, deviceId, address, operation, poolType, poolBytes };
    TableReader reader(context, "CUDA_GPU_MEMORY_POOL_EVENTS",
                       {"start", "globalPid", "deviceId", "address", "operationType", "poolType",
                        "localMemoryPoolSize"},
                       "memory pools");
    while (reader.next()) {
        const std::optional<MemoryPlace> place = readPlace(reader, directory.identities);
        const std::optional<int64_t> at = place ? reader.integer(address) : std::nullopt;
        // Another process counts the memory of a pool that was imported.
        if (!at || reader.integerOr(poolType, localPool) != localPool) continue;
        const bool isGone = reader.integerOr(operation, 0) == poolDestroyed;
        addPool(context.trace(), *place, *at, isGone ? 0 : reader.bytes(poolBytes));
    }
}

}  // namespace

void readMemoryEvents(LoadContext& context, FileDirectory& directory) {
    readUsage(context, directory);
    readPools(context, directory);
}

}  // namespace lanescope
