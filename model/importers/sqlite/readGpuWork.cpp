// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Session.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/Statistics.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Graph.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

namespace {

/// `TRACE_PROCESS_EVENT_CUDA_DRIVER` of `ENUM_NSYS_EVENT_CLASS`.
constexpr int64_t driverClass = 1;

/// A table of calls with times, thread and name. The name column depends on the version.
struct CallTable {
    const char* table;
    std::string_view domain;
};
constexpr std::array callTables{
    CallTable{"MPI_P2P_EVENTS", "MPI"},
    CallTable{"MPI_COLLECTIVES_EVENTS", "MPI"},
    CallTable{"MPI_START_WAIT_EVENTS", "MPI"},
    CallTable{"MPI_OTHER_EVENTS", "MPI"},
    CallTable{"UCP_EVENTS", "UCX"},
    CallTable{"NVSHMEM_EVENTS", "NVSHMEM"},
    CallTable{"CUBLAS_EVENTS", "cuBLAS"},
    CallTable{"CUDNN_EVENTS", "cuDNN"},
    CallTable{"CUSPARSE_EVENTS", "cuSPARSE"},
    CallTable{"CUSOLVER_EVENTS", "cuSOLVER"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", "OpenACC"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "OpenACC"},
    CallTable{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "OpenACC"},
};

int64_t readCalls(LoadContext& context, FileDirectory& directory, const CallTable& calls) {
    enum : int { Start, End, Thread, Text, Name };
    RowReader reader(context, calls.table, {"start", "end", "globalTid", "textId", "nameId"},
                     "calls of other libraries");
    if (!reader.hasTable()) return 0;
    const StringIndex domain = context.builder().intern(calls.domain);
    int64_t taken = 0;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(Start, End);
        if (!times) continue;
        const std::optional<int64_t> thread = reader.integer(Thread);
        const uint32_t index = thread ? context.builder().thread(*thread) : noIndex;
        if (reader.skipRowIf(index == noIndex)) continue;
        std::optional<StringIndex> name = reader.string(Text, directory.strings);
        if (!name) name = reader.string(Name, directory.strings);
        context.builder().add<kinds::Nvtx>(*times, {.text = name.value_or(domain), .domain = domain, .thread = index});
        ++taken;
    }
    return taken;
}

/// Reads the MPI rank of each process, unless it is known from elsewhere.
void readRanks(LoadContext& context) {
    RowReader reader(context, "MPI_RANKS", {"globalTid", "rank"}, "ranks");
    while (reader.next()) {
        const std::optional<int64_t> thread = reader.integer(0);
        const std::optional<int64_t> rank = reader.integer(1);
        if (!thread || !rank || *rank < 0 || *rank > INT32_MAX) continue;
        const uint32_t process = context.builder().process(*thread);
        if (process == noIndex || context.builder().processes()[process].rank) continue;
        context.builder().processes()[process].rank = static_cast<int>(*rank);
    }
}

/// Returns a 32-bit number, or `noIndex` if invalid.
uint32_t numberFrom(int64_t value) { return value >= 0 && value < noIndex ? static_cast<uint32_t>(value) : noIndex; }

template <class Table>
EventCallRow eventCall(TableReader<Table>& reader, const Table& table, uint32_t stream) {
    return {.stream = stream,
            .event = numberFrom(reader.integerOr(table.eventId, -1)),
            .eventSync = numberFrom(reader.integerOr(table.eventSyncId, -1)),
            .correlation = reader.unsigned32(table.correlationId)};
}

LaunchConfig readConfig(TableReader<tables::Kernels>& reader, FileStrings& strings) {
    constexpr const auto& t = tables::kernels;
    return LaunchConfig{
        .demangledName = reader.string(t.demangledName, strings).value_or(0),
        .shortName = reader.string(t.shortName, strings).value_or(0),
        .mangledName = reader.string(t.mangledName, strings).value_or(0),
        .grid = {reader.unsigned32(t.gridX), reader.unsigned32(t.gridY), reader.unsigned32(t.gridZ)},
        .block = {reader.unsigned32(t.blockX), reader.unsigned32(t.blockY), reader.unsigned32(t.blockZ)},
        .registersPerThread = reader.unsigned32(t.registersPerThread),
        .staticSharedBytes = reader.unsigned32(t.staticSharedMemory),
        .dynamicSharedBytes = reader.unsigned32(t.dynamicSharedMemory)};
}

template <class Table>
MemoryKind memory(TableReader<Table>& reader, tables::ColumnOf<Table> column, const MemoryKinds& kinds) {
    const std::optional<int64_t> number = reader.integer(column);
    return number ? kinds.memoryKind(*number) : MemoryKind::Unknown;
}

/// Adds the node of a row, or skips the row if it is incomplete. The tables call time and origin by other names.
template <class Table, class Time, class Original>
void addGraphNode(LoadContext& context, FileDirectory& directory, TableReader<Table>& reader, const Table& table,
                  const Time& time, const Original& original, uint32_t stack) {
    const std::optional<int64_t> tid = reader.integer(table.globalTid);
    const std::optional<int64_t> timeNs = reader.time(time);
    const std::optional<int64_t> node = reader.integer(table.graphNodeId);
    const uint32_t thread = tid ? directory.identities.thread(*tid) : noIndex;
    if (thread == noIndex || !timeNs || !node) return reader.skipRow();
    context.builder().add<kinds::GraphNode>({.timeNs = *timeNs,
                                             .thread = thread,
                                             .node = static_cast<uint64_t>(*node),
                                             .original = static_cast<uint64_t>(reader.integerOr(original, 0)),
                                             .stack = stack});
}

/// Reads nodes of a Lanescope trace before version 7.
void readOldGraphNodes(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::oldGraphNodes;
    TableReader reader(context, t, "nodes of CUDA graphs");
    while (reader.next())
        addGraphNode(context, directory, reader, t, t.timestamp, t.originalNodeId,
                     directory.stackOf(reader.integer(t.callchainId)));
}

}  // namespace

void readApiCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::apiCalls;
    TableReader reader(context, t, "CUDA API calls");
    std::unordered_map<StringIndex, StringIndex> plainNames;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex entryPoint = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [name, isNew] = plainNames.try_emplace(entryPoint, 0);
        if (isNew)
            name->second = directory.strings.intern(std::string(plainApiName(directory.strings.text(entryPoint))));
        context.builder().add<kinds::Api>(times, {.name = name->second,
                                                  .thread = thread,
                                                  .correlation = reader.unsigned32(t.correlationId),
                                                  .returnValue = static_cast<int32_t>(reader.unsigned32(t.returnValue)),
                                                  .isDriver = reader.integerOr(t.eventClass, 0) == driverClass,
                                                  .stack = directory.stackOf(reader.integer(t.callchainId))});
    };
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Kept, take);
    reader.countAs(kinds::Api::plural);
}

void readOtherCalls(LoadContext& context, FileDirectory& directory) {
    int64_t calls = 0;
    for (const CallTable& each : callTables) calls += readCalls(context, directory, each);
    if (calls > 0) context.builder().count("calls of other libraries", calls, 0);
    readRanks(context);
}

void readSyncs(LoadContext& context, FileDirectory& directory) {
    constexpr bool mayBeOfContext = true;
    constexpr const auto& t = tables::syncs;
    TableReader reader(context, t, gpuRowColumns(t, {t.syncType, t.eventId, t.eventSyncId}), "waits");
    forEachGpuRow(
        reader, t, directory.identities,
        [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
            const SyncType type = enumeratorFrom(reader.integerOr(t.syncType, 0), SyncType::Context);
            context.builder().add<kinds::Sync>(
                times, {.type = type, .stream = place.stream, .process = place.process, .correlation = correlation});
            if (type == SyncType::StreamWaitEvent && place.stream != noIndex)
                context.builder().eventWait(eventCall(reader, t, place.stream));
        },
        mayBeOfContext);
    reader.countAs(kinds::Sync::plural);
}

void readEventRecords(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::cudaEvents;
    TableReader reader(context, t,
                       {t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId, t.eventId, t.eventSyncId},
                       "CUDA events");
    while (reader.next()) {
        const GpuPlace place = readGpuPlace(reader, t, directory.identities);
        context.builder().eventRecord(eventCall(reader, t, place.stream));
    }
}

void readKernels(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::kernels;
    TableReader reader(
        context, t,
        gpuRowColumns(t, {t.demangledName, t.shortName, t.mangledName, t.gridX, t.gridY, t.gridZ, t.blockX, t.blockY,
                          t.blockZ, t.registersPerThread, t.staticSharedMemory, t.dynamicSharedMemory, t.graphNodeId}),
        "kernels");
    forEachGpuRow(reader, t, directory.identities, [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Kernel>(
            times, {.stream = place.stream,
                    .correlation = correlation,
                    .graphNode = static_cast<uint64_t>(reader.integerOr(t.graphNodeId, 0)),
                    .config = context.builder().launchConfig(readConfig(reader, directory.strings))});
    });
    reader.countAs(kinds::Kernel::plural);
}

void readMemcpys(LoadContext& context, FileDirectory& directory) {
    using Column = tables::ColumnOf<tables::Memcpys>;
    constexpr const auto& t = tables::memcpys;
    TableReader reader(context, t,
                       gpuRowColumns(t, {t.bytes, t.copyKind, t.srcKind, t.dstKind, t.srcDeviceId, t.dstDeviceId,
                                         t.migrationCause, t.virtualAddress}),
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
                times,
                {.bytes = reader.bytes(t.bytes),
                 .kind = kind,
                 .sourceMemory = memory<tables::Memcpys>(reader, t.srcKind, directory.kinds),
                 .destinationMemory = memory<tables::Memcpys>(reader, t.dstKind, directory.kinds),
                 .sourceGpu = gpuIn(t.srcDeviceId, place.process),
                 .destinationGpu = gpuIn(t.dstDeviceId, place.process),
                 .stream = place.stream,
                 .correlation = correlation,
                 .address = static_cast<uint64_t>(reader.integerOr(t.virtualAddress, 0)),
                 .cause = enumeratorFrom(reader.integerOr(t.migrationCause, 0), MigrationCause::AccessCounters)});
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
    TableReader reader(context, t, gpuRowColumns(t, {t.bytes, t.value, t.memKind}), "memsets");
    forEachGpuRow(reader, t, directory.identities, [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memset>(times,
                                             {.bytes = reader.bytes(t.bytes),
                                              .value = reader.unsigned32(t.value),
                                              .memory = memory<tables::Memsets>(reader, t.memKind, directory.kinds),
                                              .stream = place.stream,
                                              .correlation = correlation});
    });
    reader.countAs(kinds::Memset::plural);
}

void readGraphs(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::graphs;
    TableReader reader(context, t, gpuRowColumns(t, {t.graphId}), "CUDA graphs");
    forEachGpuRow(reader, t, directory.identities, [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Graph>(
            times, {.graph = reader.integerOr(t.graphId, 0), .stream = place.stream, .correlation = correlation});
    });
    if (reader.totalCount() > 0) reader.countAs(kinds::Graph::plural);
}

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
        addGraphNode(context, directory, reader, t, t.start, t.originalGraphNodeId,
                     stacks.of(reader.integerOr(rowNumber, 0)));
    }
}

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
        context.builder().add<kinds::MemoryEvent>(
            {.timeNs = place->timeNs,
             .bytes = reader.bytes(t.bytes),
             .address = static_cast<uint64_t>(*at),
             .kind = memory<tables::MemoryEvents>(reader, t.memKind, directory.kinds),
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
