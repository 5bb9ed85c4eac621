#include "model/load/GpuPlace.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

/// A number of 32 bits, or `noIndex` for what is none.
uint32_t numberAt(RowReader& reader, int column) {
    const int64_t value = reader.integerOr(column, -1);
    return value >= 0 && value < noIndex ? static_cast<uint32_t>(value) : noIndex;
}

/// `eventColumn` and the one after it hold the two numbers of the event.
void addEventCall(RowReader& reader, uint32_t stream, int eventColumn, EventCallTable& table) {
    table.stream.push_back(stream);
    table.event.push_back(numberAt(reader, eventColumn));
    table.eventSync.push_back(numberAt(reader, eventColumn + 1));
    table.correlation.push_back(reader.unsigned32(gpuCorrelation));
}

}  // namespace

void readSyncs(LoadContext& context, FileDirectory& directory) {
    constexpr int type = firstOwnColumn;
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                       gpuColumns({"syncType", "eventId", "eventSyncId"}), "waits");
    SyncTable& table = context.trace().syncs;
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(gpuStart, gpuEnd);
        if (!times) continue;
        const GpuPlace place = readGpuPlace(reader, directory.identities);
        if (place.process == noIndex) {
            reader.skipRow();
            continue;
        }
        const int64_t number = reader.integerOr(type, 0);
        const bool isKnown = number >= 0 && number <= static_cast<int64_t>(SyncType::Context);
        table.startNs.push_back(times->startNs);
        table.endNs.push_back(times->endNs);
        table.type.push_back(isKnown ? static_cast<SyncType>(number) : SyncType::Unknown);
        table.stream.push_back(place.stream);
        table.process.push_back(place.process);
        table.correlation.push_back(reader.unsigned32(gpuCorrelation));
        if (table.type.back() == SyncType::StreamWaitEvent && place.stream != noIndex)
            addEventCall(reader, place.stream, type + 1, context.trace().eventWaits);
    }
    if (reader.hasTable())
        context.trace().counts.push_back(
            {"synchronizations", reader.rowCount(), reader.untimedCount()});
}

void readEventRecords(LoadContext& context, FileDirectory& directory) {
    TableReader reader(context, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                       gpuColumns({"eventId", "eventSyncId"}), "CUDA events");
    EventCallTable& table = context.trace().eventRecords;
    while (reader.next()) {
        const GpuPlace place = readGpuPlace(reader, directory.identities);
        if (place.stream == noIndex || table.size() >= EventRef::maximumRow) continue;
        addEventCall(reader, place.stream, firstOwnColumn, table);
    }
}

}  // namespace lanescope
