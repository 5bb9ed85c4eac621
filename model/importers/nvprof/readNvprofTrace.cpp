// SPDX-License-Identifier: Apache-2.0
#include "model/importers/nvprof/readNvprofTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "model/format/GlobalId.h"
#include "model/importers/sqlite/ProfileContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/numbers/MixedMap.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

// Made by CMake of the lists of functions.

/// Returns the CUDA runtime function with that CUPTI number: 211 is "cudaLaunchKernel". Empty if unknown.
std::string_view runtimeCallName(int64_t number);
/// Returns the driver function with that CUPTI number: 307 is "cuLaunchKernel". Empty if unknown.
std::string_view driverCallName(int64_t number);

namespace {

/// The shared state of the readers of one nvprof file: its texts, its only process, its threads, and its start.
class NvprofContext : public ProfileContext {
  public:
    explicit NvprofContext(LoadContext& context);

    uint32_t process();
    /// Returns the thread. nvprof stores the low half of a system's thread handle.
    uint32_t thread(int64_t number);
    /// Returns the stream, or `noIndex` for a whole context.
    uint32_t stream(int64_t device, int64_t contextId, int64_t streamId);
    /// Returns the device of a context; 0 if unknown.
    int64_t deviceOf(int64_t contextId) const;

  private:
    void readProcess();
    void readContexts();
    void findZero();

    MixedMap<int64_t, uint32_t> threads_;
    MixedMap<int64_t, std::pair<int64_t, int64_t>> contexts_;  ///< Device and null stream.
    int64_t processId_ = 0;
};

constexpr int64_t maxSystemId = 0xffffff;

NvprofContext::NvprofContext(LoadContext& context) : ProfileContext(context) {
    readTexts("StringTable", "_id_", "value");
    readProcess();
    readContexts();
    findZero();
}

void NvprofContext::readProcess() {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
        RowReader reader(load(), table, {"processId"}, "processes");
        if (processId_ == 0 && reader.next()) processId_ = reader.integerOr(0, 0);
        while (reader.next()) {
        }
    }
    constexpr int64_t processKind = 1;
    RowReader reader(load(), "CUPTI_ACTIVITY_KIND_NAME", {"objectKind", "name", "objectId"}, "processes");
    std::string command;
    while (reader.next()) {
        if (reader.integerOr(0, 0) != processKind) continue;
        command = wordOf(reader.integerOr(1, 0));
        // Four bytes, little-endian.
        const std::string_view object = reader.text(2);
        if (processId_ == 0 && object.size() >= 4)
            for (size_t byte = 4; byte-- > 0;) processId_ = processId_ << 8 | static_cast<unsigned char>(object[byte]);
    }
    const uint32_t index = process();
    if (index == noIndex || command.empty()) return;
    Process& named = builder().processes()[index];
    named.facts.edit().commandLine = command;
    const std::string program = command.substr(0, command.find(' '));
    named.name = program.substr(program.rfind('/') + 1);
}

void NvprofContext::readContexts() {
    RowReader reader(load(), "CUPTI_ACTIVITY_KIND_CONTEXT", {"contextId", "deviceId", "nullStreamId"}, "contexts");
    while (reader.next()) contexts_[reader.integerOr(0, 0)] = {reader.integerOr(1, 0), reader.integerOr(2, -1)};
}

/// Finds the start. Times count since 1970 on Linux and since boot on Windows.
void NvprofContext::findZero() {
    for (const char* table :
         {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
          "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2",
          "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"})
        beginWith(table, "start");
    beginWith("CUPTI_ACTIVITY_KIND_MARKER", "timestamp");
    constexpr int64_t year2000Ns = int64_t{946'684'800} * 1'000'000'000;
    if (zeroNs() > year2000Ns) load().description().startUtcNs = zeroNs();
}

uint32_t NvprofContext::process() {
    const int64_t id = processId_ > 0 && processId_ <= maxSystemId ? processId_ : 0;
    return builder().process(globalPid(static_cast<uint32_t>(id)));
}

uint32_t NvprofContext::thread(int64_t number) {
    const auto [found, isNew] = threads_.try_emplace(number, noIndex);
    if (!isNew) return found->second;
    const uint32_t owner = process();
    if (owner == noIndex) return noIndex;
    const int64_t own = builder().processes()[owner].globalPid;
    const bool isPlain = number > 0 && number <= maxSystemId;
    // Other threads are distinguished by their number in the file.
    const int64_t id = isPlain ? number : maxSystemId - static_cast<int64_t>(threads_.size());
    const int64_t packed = own | std::max<int64_t>(id, 0);
    if (!isPlain) builder().nameThread(packed, fmt::format("Thread {:#x}", static_cast<uint32_t>(number)));
    return found->second = builder().thread(packed);
}

int64_t NvprofContext::deviceOf(int64_t contextId) const {
    return valueOr(contexts_, contextId, std::pair<int64_t, int64_t>()).first;
}

uint32_t NvprofContext::stream(int64_t device, int64_t contextId, int64_t streamId) {
    constexpr int64_t wholeContext = 0xffffffff;
    if (streamId < 0 || streamId == wholeContext || device < 0) return noIndex;
    const uint32_t gpu = builder().gpu(device);
    const uint32_t owner = process();
    if (gpu == noIndex || owner == noIndex) return noIndex;
    const uint32_t index = builder().stream(owner, gpu, contextId, streamId);
    const auto found = contexts_.find(contextId);
    if (index != noIndex && found != contexts_.end() && found->second.second == streamId)
        builder().streams()[index].isNullStream = true;
    return index;
}

/// CUPTI's object kind of threads.
constexpr int64_t threadKind = 2;

/// Returns the thread in the object of an event: the numbers of process and thread, four bytes
/// each, little-endian. Returns nullopt if the object is not a thread.
std::optional<int64_t> threadIn(int64_t kind, std::string_view object) {
    if (kind != threadKind || object.size() < 8) return std::nullopt;
    uint32_t number = 0;
    for (size_t byte = 8; byte-- > 4;) number = number << 8 | static_cast<unsigned char>(object[byte]);
    return static_cast<int32_t>(number);
}

struct Tally {
    int64_t rows = 0, untimed = 0;
    void add(const RowReader& reader) {
        rows += reader.rowCount();
        untimed += reader.untimedCount();
    }
};

/// Reads calls by function number. The file has no names.
void readCalls(NvprofContext& context, bool isDriver, Tally& tally) {
    enum : int { Start, End, Function, Thread, Correlation, Returned };
    RowReader reader(context.load(), isDriver ? "CUPTI_ACTIVITY_KIND_DRIVER" : "CUPTI_ACTIVITY_KIND_RUNTIME",
                     {"start", "end", "cbid", "threadId", "correlationId", "returnValue"}, "CUDA API calls");
    MixedMap<int64_t, StringIndex> names;
    context.forEachTimed(reader, Start, End, [&](TimeRange times) {
        const uint32_t thread = context.thread(reader.integerOr(Thread, 0));
        if (reader.skipRowIf(thread == noIndex)) return;
        const int64_t function = reader.integerOr(Function, 0);
        const auto [name, isNew] = names.try_emplace(function, 0);
        if (isNew) {
            const std::string_view known = isDriver ? driverCallName(function) : runtimeCallName(function);
            name->second = context.builder().intern(
                known.empty() ? fmt::format("CUDA {} call {}", isDriver ? "driver" : "runtime", function)
                              : std::string(known));
        }
        context.builder().add<kinds::Api>(times, {.name = name->second,
                                                  .thread = thread,
                                                  .correlation = reader.unsigned32(Correlation),
                                                  .returnValue = static_cast<int32_t>(reader.unsigned32(Returned)),
                                                  .isDriver = isDriver});
    });
    tally.add(reader);
}

/// Converts a memory kind of CUPTI, which is ours plus 1. 0 is unknown.
MemoryKind memoryFrom(int64_t number) { return number > 0 ? memoryKindFrom(number - 1) : MemoryKind::Unknown; }

/// The leading columns of all tables of work.
enum Place : int { Start, End, Device, Context, Stream, Correlation, firstOwn };

/// Reads a table of work whose columns begin as in `Place`. Calls `take` with stream, times and
/// correlation of each valid row.
void forEachWork(NvprofContext& context, RowReader& reader, auto take) {
    context.forEachTimed(reader, Start, End, [&](TimeRange times) {
        const uint32_t stream =
            context.stream(reader.integerOr(Device, 0), reader.integerOr(Context, 0), reader.integerOr(Stream, 0));
        if (reader.skipRowIf(stream == noIndex)) return;
        take(stream, times, reader.unsigned32(Correlation));
    });
}

void readKernels(NvprofContext& context, const char* table, Tally& tally) {
    enum : int { Name = firstOwn, GridX, GridY, GridZ, BlockX, BlockY, BlockZ, Registers, StaticShared, DynamicShared };
    RowReader reader(
        context.load(), table,
        {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "name", "gridX", "gridY", "gridZ",
         "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"},
        "kernels");
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        LaunchConfig config;
        context.nameKernel(config, context.text(reader.integerOr(Name, 0)));
        config.grid = {reader.unsigned32(GridX), reader.unsigned32(GridY), reader.unsigned32(GridZ)};
        config.block = {reader.unsigned32(BlockX), reader.unsigned32(BlockY), reader.unsigned32(BlockZ)};
        config.registersPerThread = reader.unsigned32(Registers);
        config.staticSharedBytes = reader.unsigned32(StaticShared);
        config.dynamicSharedBytes = reader.unsigned32(DynamicShared);
        context.builder().add<kinds::Kernel>(
            times, {.stream = stream, .correlation = correlation, .config = context.builder().launchConfig(config)});
    });
    tally.add(reader);
}

/// Reads copies within a GPU, to the host or between GPUs.
void readCopies(NvprofContext& context, const char* table, Tally& tally) {
    enum : int { Bytes = firstOwn, Kind, Source, Destination, SourceDevice, DestinationDevice };
    RowReader reader(context.load(), table,
                     {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "bytes", "copyKind",
                      "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
                     "memcpys");
    const auto gpuIn = [&](int column) {
        const int64_t device = reader.integerOr(column, -1);
        return device < 0 ? noIndex : context.builder().gpu(device);
    };
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memcpy>(times, {.bytes = reader.bytes(Bytes),
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
    RowReader reader(
        context.load(), "CUPTI_ACTIVITY_KIND_MEMSET",
        {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "bytes", "value", "memoryKind"},
        "memsets");
    forEachWork(context, reader, [&](uint32_t stream, TimeRange times, uint32_t correlation) {
        context.builder().add<kinds::Memset>(times, {.bytes = reader.bytes(Bytes),
                                                     .value = reader.unsigned32(Value),
                                                     .memory = memoryFrom(reader.integerOr(Memory, 0)),
                                                     .stream = stream,
                                                     .correlation = correlation});
    });
    reader.countAs(kinds::Memset::plural);
}

constexpr std::array otherTables{
    UnreadTable{"CUPTI_ACTIVITY_KIND_METRIC", "values of metrics"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_METRIC_INSTANCE", "values of metrics by instance"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_EVENT", "values of hardware events"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_EVENT_INSTANCE", "values of hardware events by instance"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_PC_SAMPLING", "samples of the instructions of kernels"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION", "counts of executed instructions"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS", "counts of global memory accesses"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_SHARED_ACCESS", "counts of shared memory accesses"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_BRANCH", "counts of branches"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR", "lines of source"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_ENVIRONMENT", "samples of clocks, power and temperature"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", "events of unified memory"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_CDP_KERNEL", "kernels launched by kernels"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_PREEMPTION", "preemptions"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", "data operations of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "launches of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "other events of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENMP", "events of OpenMP"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_MEMORY", "allocations"},
};

}  // namespace

void readNvprofCalls(NvprofContext& context) {
    Tally calls;
    for (const bool isDriver : {false, true}) readCalls(context, isDriver, calls);
    context.builder().count(kinds::Api::plural, calls.rows, calls.untimed);
}

void readNvprofMarkers(NvprofContext& context) {
    enum : int { Flags, Time, Id, Kind, Object, Name, Domain };
    constexpr int64_t isMark = 1, isStart = 2, isEnd = 4;
    MixedMap<int64_t, kinds::Nvtx::Row> open;
    int64_t unmatched = 0;
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_MARKER",
                     {"flags", "timestamp", "id", "objectKind", "objectId", "name", "domain"}, "NVTX ranges");
    while (reader.next()) {
        const int64_t flags = reader.integerOr(Flags, 0);
        const std::optional<int64_t> timeNs = reader.time(Time);
        if (!timeNs || (flags & (isMark | isStart | isEnd)) == 0) continue;
        const int64_t id = reader.integerOr(Id, 0);
        if ((flags & isEnd) != 0) {
            const auto begun = open.find(id);
            if (begun == open.end()) {
                ++unmatched;
                continue;
            }
            kinds::Nvtx::Row row = begun->second;
            row.endNs = std::max(row.startNs, *timeNs - context.zeroNs());
            context.builder().add<kinds::Nvtx>(row);
            open.erase(begun);
            continue;
        }
        kinds::Nvtx::Row row;
        const std::optional<int64_t> thread = threadIn(reader.integerOr(Kind, 0), reader.text(Object));
        row.thread = context.thread(thread.value_or(0));
        row.startNs = row.endNs = *timeNs - context.zeroNs();
        row.text = context.text(reader.integerOr(Name, 0));
        row.domain = context.text(reader.integerOr(Domain, 0));
        if ((flags & isMark) != 0) {
            row.style = NvtxStyle::Mark;
            context.builder().add<kinds::Nvtx>(row);
        } else if (!open.try_emplace(id, row).second) {
            ++unmatched;
        }
    }
    for (auto& [id, row] : open) {
        row.isOpen = true;
        context.builder().add<kinds::Nvtx>(row);
    }
    context.builder().skip("ends of ranges without a start", unmatched);
}

void readNvprofOverhead(NvprofContext& context) {
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end"}, "overhead");
    int64_t totalNs = 0;
    while (reader.next())
        if (const std::optional<TimeRange> times = reader.times(0, 1)) {
            const int64_t room = std::numeric_limits<int64_t>::max() / 2 - totalNs;
            totalNs += std::min(times->durationNs(), room);
        }
    if (totalNs > 0)
        context.load().note({Severity::Info, HealthCode::ProfilerOverhead,
                             fmt::format("Profiler overhead: {}.", formatDuration(totalNs))});
}

void readNvprofDevices(NvprofContext& context) {
    enum : int { Id, Name, Memory, Bandwidth, Multiprocessors, Major, Minor, Uuid };
    constexpr int64_t bytesOfKilobyte = 1000;
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_DEVICE",
                     {"id", "name", "globalMemorySize", "globalMemoryBandwidth", "numMultiprocessors",
                      "computeCapabilityMajor", "computeCapabilityMinor", "uuid"},
                     "GPUs");
    while (reader.next()) {
        const uint32_t index = context.builder().gpu(reader.integerOr(Id, 0));
        if (reader.skipRowIf(index == noIndex)) continue;
        Gpu& gpu = context.builder().gpus()[index];
        gpu.name = context.wordOf(reader.integerOr(Name, 0));
        gpu.memoryBytes = reader.bytes(Memory);
        const int64_t bandwidth = reader.integerOr(Bandwidth, 0);
        if (bandwidth > 0 && bandwidth < INT64_MAX / bytesOfKilobyte)
            gpu.memoryBandwidthBytesPerSecond = bandwidth * bytesOfKilobyte;
        gpu.smCount = static_cast<int>(reader.unsigned32(Multiprocessors) & 0xffff);
        gpu.computeMajor = static_cast<int>(reader.unsigned32(Major) & 0xff);
        gpu.computeMinor = static_cast<int>(reader.unsigned32(Minor) & 0xff);
        const std::string_view uuid = reader.text(Uuid);
        if (uuid.size() != 16) continue;
        for (size_t byte = 0; byte < uuid.size(); ++byte) {
            const bool isParted = byte == 4 || byte == 6 || byte == 8 || byte == 10;
            gpu.uuid += fmt::format("{}{:02x}",
                                    isParted    ? "-"
                                    : byte == 0 ? "GPU-"
                                                : "",
                                    static_cast<unsigned char>(uuid[byte]));
        }
    }
}

void readNvprofWork(NvprofContext& context) {
    Tally kernels, copies;
    // The table of kernels depends on whether they could overlap.
    for (const char* table : {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"})
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
    context.forEachTimed(reader, Begin, Until, [&](TimeRange times) {
        const int64_t ofContext = reader.integerOr(OfContext, 0);
        context.builder().add<kinds::Sync>(
            times, {.type = enumeratorFrom(reader.integerOr(Type, 0), SyncType::Context),
                    .stream = context.stream(context.deviceOf(ofContext), ofContext, reader.integerOr(OfStream, -1)),
                    .process = context.process(),
                    .correlation = reader.unsigned32(OfCall)});
    });
    reader.countAs(kinds::Sync::plural);
}

void readNvprofTrace(LoadContext& load) {
    load.builder().description().producer = "nvprof";
    NvprofContext context(load);
    readNvprofCalls(context);
    readNvprofWork(context);
    readNvprofWaits(context);
    readNvprofMarkers(context);
    readNvprofOverhead(context);
    readNvprofDevices(context);
    noteSkippedTables(load, otherTables);
}

}  // namespace lanescope
