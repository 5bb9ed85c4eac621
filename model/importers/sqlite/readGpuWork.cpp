// SPDX-License-Identifier: Apache-2.0
#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Session.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/eventRows.h"
#include "model/importers/sqlite/readers.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"

namespace lanescope {

namespace {

constexpr const auto& kernelColumns = tables::kernels;

LaunchConfig readConfig(TableReader<tables::Kernels>& reader, FileStrings& strings) {
    LaunchConfig config;
    config.demangledName = reader.string(kernelColumns.demangledName, strings).value_or(0);
    config.shortName = reader.string(kernelColumns.shortName, strings).value_or(0);
    config.mangledName = reader.string(kernelColumns.mangledName, strings).value_or(0);
    config.grid = {reader.unsigned32(kernelColumns.gridX), reader.unsigned32(kernelColumns.gridY),
                   reader.unsigned32(kernelColumns.gridZ)};
    config.block = {reader.unsigned32(kernelColumns.blockX), reader.unsigned32(kernelColumns.blockY),
                    reader.unsigned32(kernelColumns.blockZ)};
    config.registersPerThread = reader.unsigned32(kernelColumns.registersPerThread);
    config.staticSharedBytes = reader.unsigned32(kernelColumns.staticSharedMemory);
    config.dynamicSharedBytes = reader.unsigned32(kernelColumns.dynamicSharedMemory);
    return config;
}

}  // namespace

void readKernels(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, kernelColumns,
                       {kernelColumns.start,
                        kernelColumns.end,
                        kernelColumns.globalPid,
                        kernelColumns.deviceId,
                        kernelColumns.contextId,
                        kernelColumns.streamId,
                        kernelColumns.correlationId,
                        kernelColumns.demangledName,
                        kernelColumns.shortName,
                        kernelColumns.mangledName,
                        kernelColumns.gridX,
                        kernelColumns.gridY,
                        kernelColumns.gridZ,
                        kernelColumns.blockX,
                        kernelColumns.blockY,
                        kernelColumns.blockZ,
                        kernelColumns.registersPerThread,
                        kernelColumns.staticSharedMemory,
                        kernelColumns.dynamicSharedMemory,
                        kernelColumns.graphNodeId},
                       "kernels");
    forEachGpuRow(reader, kernelColumns, directory.identities,
                  [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
                      context.builder().add<kinds::Kernel>(
                          {.startNs = times.startNs,
                           .endNs = times.endNs,
                           .stream = place.stream,
                           .correlation = correlation,
                           .graphNode = static_cast<uint64_t>(reader.integerOr(kernelColumns.graphNodeId, 0)),
                           .config = context.builder().launchConfig(readConfig(reader, directory.strings))});
                  });
    reader.countAs(kinds::Kernel::plural);
}

namespace {

template <class Table>
MemoryKind memory(TableReader<Table>& reader, tables::ColumnOf<Table> column, const MemoryKinds& kinds) {
    const std::optional<int64_t> number = reader.integer(column);
    return number ? kinds.memoryKind(*number) : MemoryKind::Unknown;
}

MigrationCause causeFrom(int64_t number) {
    const bool isKnown = number >= 0 && number <= static_cast<int64_t>(MigrationCause::AccessCounters);
    return isKnown ? static_cast<MigrationCause>(number) : MigrationCause::Unknown;
}

}  // namespace

void readMemcpys(LoadContext& context, FileDirectory& directory) {
    using Column = tables::ColumnOf<tables::Memcpys>;
    constexpr const auto& t = tables::memcpys;
    TableReader reader(
        context, t,
        {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId, t.bytes, t.copyKind,
         t.srcKind, t.dstKind, t.srcDeviceId, t.dstDeviceId, t.migrationCause, t.virtualAddress},
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
    // The reader counts only memcpys among the rows stored elsewhere.
    const int64_t memcpys = reader.totalCount() - (migrations.total - elsewhere);
    if (reader.hasTable() || memcpys > 0)
        context.builder().count(kinds::Memcpy::plural, memcpys,
                                reader.untimedCount() - (migrations.untimed - elsewhere));
    if (migrations.total > 0) context.builder().count(migrations.name, migrations.total, migrations.untimed);
}

void readMemsets(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::memsets;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId, t.bytes,
                        t.value, t.memKind},
                       "memsets");
    forEachGpuRow(reader, t, directory.identities, [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memset>({.startNs = times.startNs,
                                              .endNs = times.endNs,
                                              .bytes = reader.bytes(t.bytes),
                                              .value = reader.unsigned32(t.value),
                                              .memory = memory<tables::Memsets>(reader, t.memKind, directory.kinds),
                                              .stream = place.stream,
                                              .correlation = correlation});
    });
    reader.countAs(kinds::Memset::plural);
}

void readGraphs(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::graphs;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId, t.graphId},
                       "CUDA graphs");
    forEachGpuRow(reader, t, directory.identities, [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Graph>({.startNs = times.startNs,
                                             .endNs = times.endNs,
                                             .graph = reader.integerOr(t.graphId, 0),
                                             .stream = place.stream,
                                             .correlation = correlation});
    });
    if (reader.totalCount() > 0) reader.countAs(kinds::Graph::plural);
}

namespace {

/// Reads nodes of a Lanescope trace before version 7.
void readOldGraphNodes(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::oldGraphNodes;
    TableReader reader(context, t, {t.globalTid, t.timestamp, t.graphNodeId, t.originalNodeId, t.callchainId},
                       "nodes of CUDA graphs");
    while (reader.next()) {
        const std::optional<int64_t> tid = reader.integer(t.globalTid);
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        const std::optional<int64_t> node = reader.integer(t.graphNodeId);
        const uint32_t thread = tid ? directory.identities.thread(*tid) : noIndex;
        if (thread == noIndex || !timeNs || !node) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::GraphNode>(
            {.timeNs = *timeNs,
             .thread = thread,
             .node = static_cast<uint64_t>(*node),
             .original = static_cast<uint64_t>(reader.integerOr(t.originalNodeId, 0)),
             .stack = directory.stackOf(reader.integer(t.callchainId))});
    }
}

}  // namespace

void readGraphNodes(LoadContext& context, FileDirectory& directory) {
    readOldGraphNodes(context, directory);
    constexpr const auto& t = tables::graphNodes;
    constexpr const auto& s = tables::graphNodeStacks;
    constexpr auto rowNumber = tables::rowNumber<tables::GraphNodes>;
    StacksOfRows stacks(context.builder().memory());
    stacks.read(context, directory, s, s.nodeRow, "Python stacks of nodes of CUDA graphs");
    TableReader reader(context, t,
                       {t.start, t.eventClass, t.globalTid, t.graphNodeId, t.originalGraphNodeId, rowNumber},
                       "nodes of CUDA graphs");
    while (reader.next()) {
        // Exports contain changes of nodes here, too.
        constexpr int64_t creation = tables::GraphNodes::nodeCreation;
        if (reader.integerOr(t.eventClass, creation) != creation) continue;
        const std::optional<int64_t> tid = reader.integer(t.globalTid);
        const std::optional<int64_t> timeNs = reader.time(t.start);
        const std::optional<int64_t> node = reader.integer(t.graphNodeId);
        const uint32_t thread = tid ? directory.identities.thread(*tid) : noIndex;
        if (thread == noIndex || !timeNs || !node) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::GraphNode>(
            {.timeNs = *timeNs,
             .thread = thread,
             .node = static_cast<uint64_t>(*node),
             .original = static_cast<uint64_t>(reader.integerOr(t.originalGraphNodeId, 0)),
             .stack = stacks.of(reader.integerOr(rowNumber, 0))});
    }
}

}  // namespace lanescope
