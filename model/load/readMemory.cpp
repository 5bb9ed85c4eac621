#include "model/load/GpuPlace.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

enum CopyColumn {
    copyBytes = firstOwnColumn,
    copyKind,
    sourceKind,
    destinationKind,
    sourceDevice,
    destinationDevice,
    migrationCause,
    virtualAddress,
};
enum SetColumn { setBytes = firstOwnColumn, setValue, setMemory };

/// The GPU that the process calls by the number in the cell.
int16_t gpuIn(RowReader& reader, int column, uint32_t process, Identities& identities) {
    const uint32_t gpu = identities.gpuOf(process, reader.integerOr(column, -1));
    return gpu <= INT16_MAX ? static_cast<int16_t>(gpu) : int16_t{-1};
}

MemoryKind memory(RowReader& reader, int column, const MemoryKinds& kinds) {
    const std::optional<int64_t> number = reader.integer(column);
    return number ? kinds.memoryKind(*number) : MemoryKind::Unknown;
}

bool isMigration(MemcpyKind kind) {
    return kind == MemcpyKind::UvmHtoD || kind == MemcpyKind::UvmDtoH ||
           kind == MemcpyKind::UvmDtoD;
}

void addMigration(RowReader& reader, uint32_t row, MigrationTable& table) {
    const int64_t number = reader.integerOr(migrationCause, 0);
    const bool isKnown =
        number >= 0 && number <= static_cast<int64_t>(MigrationCause::AccessCounters);
    table.memcpy.push_back(row);
    table.address.push_back(static_cast<uint64_t>(reader.integerOr(virtualAddress, 0)));
    table.cause.push_back(isKnown ? static_cast<MigrationCause>(number) : MigrationCause::Unknown);
}

}  // namespace

void readMemcpys(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_MEMCPY",
                       gpuColumns({"bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
                                   "dstDeviceId", "migrationCause", "virtualAddress"}),
                       "memcpys");
    MemcpyTable& table = context.trace().memcpys;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(gpuStart, gpuEnd);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, directory.identities);
        if (place.stream == noIndex) {
            reader.skipRow();
            continue;
        }
        table.startNs.push_back(times->startNs);
        table.endNs.push_back(times->endNs);
        table.bytes.push_back(reader.bytes(copyBytes));
        table.kind.push_back(directory.kinds.memcpyKind(reader.integerOr(copyKind, 0)));
        if (isMigration(table.kind.back()))
            addMigration(reader, table.size() - 1, context.trace().migrations);
        table.sourceMemory.push_back(memory(reader, sourceKind, directory.kinds));
        table.destinationMemory.push_back(memory(reader, destinationKind, directory.kinds));
        table.sourceDevice.push_back(
            gpuIn(reader, sourceDevice, place.process, directory.identities));
        table.destinationDevice.push_back(
            gpuIn(reader, destinationDevice, place.process, directory.identities));
        table.stream.push_back(place.stream);
        table.correlation.push_back(reader.unsigned32(gpuCorrelation));
    }
    if (reader.hasTable())
        context.trace().counts.push_back({"memcpys", reader.rowCount(), reader.untimedCount()});
}

void readMemsets(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_MEMSET",
                       gpuColumns({"bytes", "value", "memKind"}), "memsets");
    MemsetTable& table = context.trace().memsets;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(gpuStart, gpuEnd);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, directory.identities);
        if (place.stream == noIndex) {
            reader.skipRow();
            continue;
        }
        table.startNs.push_back(times->startNs);
        table.endNs.push_back(times->endNs);
        table.bytes.push_back(reader.bytes(setBytes));
        table.value.push_back(reader.unsigned32(setValue));
        table.memory.push_back(memory(reader, setMemory, directory.kinds));
        table.stream.push_back(place.stream);
        table.correlation.push_back(reader.unsigned32(gpuCorrelation));
    }
    if (reader.hasTable())
        context.trace().counts.push_back({"memsets", reader.rowCount(), reader.untimedCount()});
}

}  // namespace lanescope
