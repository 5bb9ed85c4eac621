// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "model/load/nvprof/nvprofTables.h"
#include "model/load/sqlite/RowReader.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/Memset.h"
#include "model/trace/kinds/Sync.h"
#include "model/values/kernelName.h"

namespace lanescope {

namespace {

/// Kinds of memory are CUPTI's, which are one more than ours; 0 is unknown.
MemoryKind memoryFrom(int64_t number) {
    return number > 0 ? memoryKindFrom(number - 1) : MemoryKind::Unknown;
}

/// Columns that all tables of work begin with here.
enum Place : int { Start, End, Device, Context, Stream, Correlation, firstOwn };

/// Goes through a table of work whose columns begin as `Place` has them: hands stream, times and
/// correlation of each row that has them to `take`.
template <class Take>
void forEachWork(NvprofContext& context, RowReader& reader, Take take) {
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(Start, End);
        if (!times) continue;
        const uint32_t stream = context.stream(
            reader.integerOr(Device, 0), reader.integerOr(Context, 0), reader.integerOr(Stream, 0));
        if (stream == noIndex) {
            reader.skipRow();
            continue;
        }
        take(stream, context.shifted(*times), reader.unsigned32(Correlation));
    }
}

struct Tally {
    int64_t rows = 0, untimed = 0;
    void add(const RowReader& reader) {
        rows += reader.rowCount();
        untimed += reader.untimedCount();
    }
};

void readKernels(NvprofContext& context, const char* table, Tally& tally) {
    enum : int {
        Name = firstOwn,
        GridX,
        GridY,
        GridZ,
        BlockX,
        BlockY,
        BlockZ,
        Registers,
        StaticShared,
        DynamicShared
    };
    RowReader reader(context.load(), table,
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "name",
                      "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                      "staticSharedMemory", "dynamicSharedMemory"},
                     "kernels");
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        LaunchConfig config;
        const int64_t name = reader.integerOr(Name, 0);
        config.demangledName = context.functionName(name);
        config.mangledName = context.text(name);
        const std::string whole(context.builder().text(config.demangledName));
        config.shortName = context.builder().intern(kernelBaseName(whole));
        config.grid = {reader.unsigned32(GridX), reader.unsigned32(GridY),
                       reader.unsigned32(GridZ)};
        config.block = {reader.unsigned32(BlockX), reader.unsigned32(BlockY),
                        reader.unsigned32(BlockZ)};
        config.registersPerThread = reader.unsigned32(Registers);
        config.staticSharedBytes = reader.unsigned32(StaticShared);
        config.dynamicSharedBytes = reader.unsigned32(DynamicShared);
        context.builder().add<kinds::Kernel>({.startNs = times.startNs,
                                              .endNs = times.endNs,
                                              .stream = stream,
                                              .correlation = correlation,
                                              .config = context.builder().launchConfig(config)});
    });
    tally.add(reader);
}

/// Between GPUs or not.
void readCopies(NvprofContext& context, const char* table, Tally& tally) {
    enum : int { Bytes = firstOwn, Kind, Source, Destination, SourceDevice, DestinationDevice };
    RowReader reader(context.load(), table,
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "bytes",
                      "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
                     "memcpys");
    const auto gpuIn = [&](int column) {
        const int64_t device = reader.integerOr(column, -1);
        return device < 0 ? noIndex : context.builder().gpu(device);
    };
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memcpy>(
            {.startNs = times.startNs,
             .endNs = times.endNs,
             .bytes = reader.bytes(Bytes),
             .kind = memcpyKindFrom(reader.integerOr(Kind, 0)),
             .sourceMemory = memoryFrom(reader.integerOr(Source, 0)),
             .destinationMemory = memoryFrom(reader.integerOr(Destination, 0)),
             .sourceGpu = gpuIn(SourceDevice),
             .destinationGpu = gpuIn(DestinationDevice),
             .stream = stream,
             .correlation = correlation});
    });
    tally.add(reader);
}

void readMemsets(NvprofContext& context) {
    enum : int { Bytes = firstOwn, Value, Memory };
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_MEMSET",
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "bytes",
                      "value", "memoryKind"},
                     "memsets");
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memset>({.startNs = times.startNs,
                                              .endNs = times.endNs,
                                              .bytes = reader.bytes(Bytes),
                                              .value = reader.unsigned32(Value),
                                              .memory = memoryFrom(reader.integerOr(Memory, 0)),
                                              .stream = stream,
                                              .correlation = correlation});
    });
    reader.countAs(kinds::Memset::plural);
}

}  // namespace

void readNvprofWork(NvprofContext& context) {
    Tally kernels, copies;
    // Which of the two tables has the kernels depends on whether they could overlap.
    for (const char* table :
         {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"})
        readKernels(context, table, kernels);
    context.builder().count(kinds::Kernel::plural, kernels.rows, kernels.untimed);
    for (const char* table : {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2"})
        readCopies(context, table, copies);
    context.builder().count(kinds::Memcpy::plural, copies.rows, copies.untimed);
    readMemsets(context);
}

void readNvprofWaits(NvprofContext& context) {
    enum : int { Begin, Until, Type, OfContext, OfStream, OfCall };
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                     {"start", "end", "type", "contextId", "streamId", "correlationId"}, "waits");
    while (reader.next()) {
        const std::optional<TimeRange> found = reader.times(Begin, Until);
        if (!found) continue;
        const TimeRange times = context.shifted(*found);
        const int64_t ofContext = reader.integerOr(OfContext, 0);
        const int64_t type = reader.integerOr(Type, 0);
        const bool isKnown = type >= 0 && type <= static_cast<int64_t>(SyncType::Context);
        context.builder().add<kinds::Sync>(
            {.startNs = times.startNs,
             .endNs = times.endNs,
             .type = isKnown ? static_cast<SyncType>(type) : SyncType::Unknown,
             .stream = context.stream(context.deviceOf(ofContext), ofContext,
                                      reader.integerOr(OfStream, -1)),
             .process = context.process(),
             .correlation = reader.unsigned32(OfCall)});
    }
    reader.countAs(kinds::Sync::plural);
}

}  // namespace lanescope
