// SPDX-License-Identifier: Apache-2.0
#include "model/format/migrations.h"
#include "model/format/tables/Copies.h"
#include "model/load/sqlite/GpuPlace.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/Memset.h"

namespace lanescope {

namespace {

template <class Table>
MemoryKind memory(TableReader<Table>& reader, tables::ColumnOf<Table> column,
                  const MemoryKinds& kinds) {
    const std::optional<int64_t> number = reader.integer(column);
    return number ? kinds.memoryKind(*number) : MemoryKind::Unknown;
}

MigrationCause causeFrom(int64_t number) {
    const bool isKnown =
        number >= 0 && number <= static_cast<int64_t>(MigrationCause::AccessCounters);
    return isKnown ? static_cast<MigrationCause>(number) : MigrationCause::Unknown;
}

}  // namespace

void readMemcpys(LoadContext& context, FileDirectory& directory) {
    using Column = tables::ColumnOf<tables::Memcpys>;
    constexpr const auto& t = tables::memcpys;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId,
                        t.correlationId, t.bytes, t.copyKind, t.srcKind, t.dstKind, t.srcDeviceId,
                        t.dstDeviceId, t.migrationCause, t.virtualAddress},
                       "memcpys");
    const auto gpuIn = [&](Column column, uint32_t process) {
        return directory.identities.gpuOf(process, reader.integerOr(column, -1));
    };
    MemcpyKind kind{};  // of the row
    const int64_t elsewhere = context.untimedOf(migrationsCounted);
    EventCount migrations{migrationsCounted, elsewhere, elsewhere};
    forEachGpuRow(
        reader, t, directory.identities,
        [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
            context.builder().add<kinds::Memcpy>(
                {.startNs = times.startNs,
                 .endNs = times.endNs,
                 .bytes = reader.bytes(t.bytes),
                 .kind = kind,
                 .sourceMemory = memory<tables::Memcpys>(reader, t.srcKind, directory.kinds),
                 .destinationMemory = memory<tables::Memcpys>(reader, t.dstKind, directory.kinds),
                 .sourceGpu = gpuIn(t.srcDeviceId, place.process),
                 .destinationGpu = gpuIn(t.dstDeviceId, place.process),
                 .stream = place.stream,
                 .correlation = correlation,
                 .address = static_cast<uint64_t>(reader.integerOr(t.virtualAddress, 0)),
                 .cause = causeFrom(reader.integerOr(t.migrationCause, 0))});
        },
        false,
        [&](bool isUntimed) {
            kind = directory.kinds.memcpyKind(reader.integerOr(t.copyKind, 0));
            if (!isMigration(kind)) return;
            ++migrations.total;
            migrations.untimed += isUntimed ? 1 : 0;
        });
    // Of what stands elsewhere the reader knows memcpys alone.
    const int64_t memcpys = reader.totalCount() - (migrations.total - elsewhere);
    if (reader.hasTable() || memcpys > 0)
        context.builder().count(kinds::Memcpy::plural, memcpys,
                                reader.untimedCount() - (migrations.untimed - elsewhere));
    if (migrations.total > 0)
        context.builder().count(migrations.name, migrations.total, migrations.untimed);
}

void readMemsets(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::memsets;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId,
                        t.correlationId, t.bytes, t.value, t.memKind},
                       "memsets");
    forEachGpuRow(reader, t, directory.identities,
                  [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
                      context.builder().add<kinds::Memset>(
                          {.startNs = times.startNs,
                           .endNs = times.endNs,
                           .bytes = reader.bytes(t.bytes),
                           .value = reader.unsigned32(t.value),
                           .memory = memory<tables::Memsets>(reader, t.memKind, directory.kinds),
                           .stream = place.stream,
                           .correlation = correlation});
                  });
    reader.countAs(kinds::Memset::plural);
}

}  // namespace lanescope
