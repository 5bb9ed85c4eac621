// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <unordered_map>

#include "model/format/tables/Cuda.h"
#include "model/importers/sqlite/FileStrings.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/eventRows.h"
#include "model/importers/sqlite/readers.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

namespace {

/// `TRACE_PROCESS_EVENT_CUDA_DRIVER` of `ENUM_NSYS_EVENT_CLASS`.
constexpr int64_t driverClass = 1;

}  // namespace

void readApiCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::apiCalls;
    TableReader reader(
        context, t,
        {t.start, t.end, t.globalTid, t.correlationId, t.nameId, t.returnValue, t.eventClass, t.callchainId},
        "CUDA API calls");
    std::unordered_map<StringIndex, StringIndex> plainNames;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex entryPoint = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [name, isNew] = plainNames.try_emplace(entryPoint, 0);
        if (isNew)
            name->second = directory.strings.intern(std::string(plainApiName(directory.strings.text(entryPoint))));
        context.builder().add<kinds::Api>({.startNs = times.startNs,
                                           .endNs = times.endNs,
                                           .name = name->second,
                                           .thread = thread,
                                           .correlation = reader.unsigned32(t.correlationId),
                                           .returnValue = static_cast<int32_t>(reader.unsigned32(t.returnValue)),
                                           .isDriver = reader.integerOr(t.eventClass, 0) == driverClass,
                                           .stack = directory.stackOf(reader.integer(t.callchainId))});
    };
    forEachThreadRow(reader, t, directory.identities, UnnamedRows::Kept, take);
    reader.countAs(kinds::Api::plural);
}

namespace {

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
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        std::optional<StringIndex> name = reader.string(Text, directory.strings);
        if (!name) name = reader.string(Name, directory.strings);
        context.builder().add<kinds::Nvtx>({.startNs = times->startNs,
                                            .endNs = times->endNs,
                                            .text = name.value_or(domain),
                                            .domain = domain,
                                            .thread = index});
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

}  // namespace

void readOtherCalls(LoadContext& context, FileDirectory& directory) {
    int64_t calls = 0;
    for (const CallTable& each : callTables) calls += readCalls(context, directory, each);
    if (calls > 0) context.builder().count("calls of other libraries", calls, 0);
    readRanks(context);
}

namespace {

/// Returns a 32-bit number, or `noIndex` if invalid.
uint32_t numberFrom(int64_t value) { return value >= 0 && value < noIndex ? static_cast<uint32_t>(value) : noIndex; }

template <class Table>
EventCallRow eventCall(TableReader<Table>& reader, const Table& table, uint32_t stream) {
    return {.stream = stream,
            .event = numberFrom(reader.integerOr(table.eventId, -1)),
            .eventSync = numberFrom(reader.integerOr(table.eventSyncId, -1)),
            .correlation = reader.unsigned32(table.correlationId)};
}

}  // namespace

void readSyncs(LoadContext& context, FileDirectory& directory) {
    constexpr bool mayBeOfContext = true;
    constexpr const auto& t = tables::syncs;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId, t.syncType,
                        t.eventId, t.eventSyncId},
                       "waits");
    forEachGpuRow(
        reader, t, directory.identities,
        [&](const GpuPlace& place, TimeRange times, uint32_t correlation) {
            const int64_t number = reader.integerOr(t.syncType, 0);
            const bool isKnown = number >= 0 && number <= static_cast<int64_t>(SyncType::Context);
            const auto type = isKnown ? static_cast<SyncType>(number) : SyncType::Unknown;
            context.builder().add<kinds::Sync>({.startNs = times.startNs,
                                                .endNs = times.endNs,
                                                .type = type,
                                                .stream = place.stream,
                                                .process = place.process,
                                                .correlation = correlation});
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

}  // namespace lanescope
