// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Syncs.h"
#include "model/load/sqlite/GpuPlace.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Sync.h"

namespace lanescope {

namespace {

/// A number of 32 bits, or `noIndex` for what is none.
uint32_t numberFrom(int64_t value) {
    return value >= 0 && value < noIndex ? static_cast<uint32_t>(value) : noIndex;
}

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
                       {t.start, t.end, t.globalPid, t.deviceId, t.contextId, t.streamId,
                        t.correlationId, t.syncType, t.eventId, t.eventSyncId},
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
                       {t.globalPid, t.deviceId, t.contextId, t.streamId, t.correlationId,
                        t.eventId, t.eventSyncId},
                       "CUDA events");
    while (reader.next()) {
        const GpuPlace place = readGpuPlace(reader, t, directory.identities);
        context.builder().eventRecord(eventCall(reader, t, place.stream));
    }
}

}  // namespace lanescope
