// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/rocm/readRocmTraces.h"
#include "model/importers/sqlite/ProfileContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readSqliteTrace.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

namespace {

/// User marks are calls of this name with the text as argument.
constexpr std::string_view markerCall = "UserMarker";

constexpr std::array otherTables{UnreadTable{"rocpd_barrierop", "barriers between queues"}};

/// The call that launched the work.
struct Launch {
    int64_t call = 0;
    uint32_t process = noIndex;
    std::string_view function;
};

struct Copy {
    int64_t bytes = 0;
    int64_t kind = -1;  ///< Number of HIP.
    int64_t sourceGpu = -1, destinationGpu = -1;
};

struct KernelSize {
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t sharedBytes = 0;
    int64_t name = 0;
};

class RpdReader {
  public:
    explicit RpdReader(LoadContext& context) : context_(context) {
        for (const char* table : {"rocpd_api", "rocpd_op", "rocpd_monitor"}) context_.beginWith(table, "start");
        context_.readTexts("rocpd_string");
    }

    void read() {
        readCalls();
        readCopies();
        readKernelSizes();
        readLaunches();
        readOperations();
        readMonitor();
    }

  private:
    TraceBuilder& builder() { return context_.builder(); }

    /// Returns the number that connects a call with its work: its own number, if it fits.
    static uint32_t correlationOf(int64_t call) {
        return call > 0 && call < int64_t{noIndex} ? static_cast<uint32_t>(call) : 0;
    }

    void readCalls() {
        enum : int { Id, Pid, Tid, Start, End, Name, Arguments };
        RowReader reader(context_.load(), "rocpd_api", {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"},
                         "API calls");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t thread = builder().thread(globalTid(reader.unsigned32(Pid), reader.unsigned32(Tid)));
            if (reader.skipRowIf(thread == noIndex)) return;
            const StringIndex name = context_.text(reader.integerOr(Name, 0));
            const int64_t id = reader.integerOr(Id, 0);
            if (builder().text(name) == markerCall) {
                builder().add<kinds::Nvtx>(times, {.text = context_.text(reader.integerOr(Arguments, 0)),
                                                   .thread = thread,
                                                   .style = times.isEmpty() ? NvtxStyle::Mark : NvtxStyle::PushPop});
                return;
            }
            callers_[id] = {id, builder().trace().threads[thread].process, builder().text(name)};
            builder().add<kinds::Api>(times, {.name = name, .thread = thread, .correlation = correlationOf(id)});
        });
    }

    void readCopies() {
        enum : int { Call, Bytes, Kind, Destination, Source };
        RowReader reader(context_.load(), "rocpd_copyapi", {"api_ptr_id", "size", "kind", "dstDevice", "srcDevice"},
                         "memcpys");
        while (reader.next())
            copies_[reader.integerOr(Call, 0)] = {reader.bytes(Bytes), reader.integerOr(Kind, -1),
                                                  reader.integerOr(Source, -1), reader.integerOr(Destination, -1)};
    }

    void readKernelSizes() {
        enum : int { Call, GridX, GridY, GridZ, BlockX, BlockY, BlockZ, Shared, Name };
        RowReader reader(context_.load(), "rocpd_kernelapi",
                         {"api_ptr_id", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
                          "groupSegmentSize", "kernelName_id"},
                         "kernels");
        while (reader.next())
            sizes_[reader.integerOr(Call, 0)] = {
                {reader.unsigned32(GridX), reader.unsigned32(GridY), reader.unsigned32(GridZ)},
                {reader.unsigned32(BlockX), reader.unsigned32(BlockY), reader.unsigned32(BlockZ)},
                reader.unsigned32(Shared),
                reader.integerOr(Name, 0)};
    }

    void readLaunches() {
        RowReader reader(context_.load(), "rocpd_api_ops", {"api_id", "op_id"}, "launches");
        while (reader.next()) callOf_[reader.integerOr(1, 0)] = reader.integerOr(0, 0);
    }

    Launch launchOf(int64_t operation) {
        const auto call = callOf_.find(operation);
        if (call != callOf_.end())
            if (const auto caller = callers_.find(call->second); caller != callers_.end()) return caller->second;
        // The process is unknown, so it is the first, usually the only one.
        if (builder().processes().empty()) return {0, builder().process(globalPid(0)), {}};
        return {0, 0, {}};
    }

    void readOperations() {
        enum : int { Id, Gpu, Queue, Start, End, Description, Type };
        RowReader reader(context_.load(), "rocpd_op",
                         {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"}, "GPU work");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const Launch launch = launchOf(reader.integerOr(Id, 0));
            const int64_t device = std::max<int64_t>(0, reader.integerOr(Gpu, 0));
            workingGpus_.insert(device);
            const uint32_t gpu = builder().gpu(device);
            const uint32_t stream = builder().stream(launch.process, gpu, 0, reader.integerOr(Queue, 0));
            if (reader.skipRowIf(stream == noIndex)) return;
            emitWork(context_.wordOf(reader.integerOr(Type, 0)), times, stream, launch,
                     context_.text(reader.integerOr(Description, 0)));
        });
        context_.noteOthers();
    }

    void emitWork(std::string_view type, TimeRange range, uint32_t stream, const Launch& launch,
                  StringIndex description) {
        const uint32_t correlation = correlationOf(launch.call);
        if (const MemcpyKind kind = rocmCopyKind(type); kind != MemcpyKind::Unknown) {
            emitCopy(kind, range, stream, launch);
        } else if (type.find("Fill") != std::string_view::npos) {
            builder().add<kinds::Memset>(range, {.bytes = valueOr(copies_, launch.call, Copy{}).bytes,
                                                 .memory = MemoryKind::Device,
                                                 .stream = stream,
                                                 .correlation = correlation});
        } else if (description != 0 || type.starts_with("Kernel")) {
            emitKernel(range, stream, launch, description);
        } else {
            context_.addOther(type);
        }
    }

    void emitCopy(MemcpyKind kind, TimeRange range, uint32_t stream, const Launch& launch) {
        const bool isFromHost = kind == MemcpyKind::HtoD || kind == MemcpyKind::HtoH;
        const bool isToHost = kind == MemcpyKind::DtoH || kind == MemcpyKind::HtoH;
        kinds::Memcpy::Row row{.startNs = range.startNs,
                               .endNs = range.endNs,
                               .kind = kind,
                               .sourceMemory = isFromHost ? MemoryKind::Unknown : MemoryKind::Device,
                               .destinationMemory = isToHost ? MemoryKind::Unknown : MemoryKind::Device,
                               .stream = stream,
                               .correlation = correlationOf(launch.call)};
        if (const auto copy = copies_.find(launch.call); copy != copies_.end()) {
            row.bytes = copy->second.bytes;
            const bool areTwo = copy->second.sourceGpu >= 0 && copy->second.destinationGpu >= 0 &&
                                copy->second.sourceGpu != copy->second.destinationGpu;
            if (kind == MemcpyKind::DtoD && areTwo) {
                row.kind = MemcpyKind::PtoP;
                row.sourceGpu = builder().gpu(copy->second.sourceGpu);
                row.destinationGpu = builder().gpu(copy->second.destinationGpu);
            }
        }
        builder().add<kinds::Memcpy>(row);
    }

    void emitKernel(TimeRange range, uint32_t stream, const Launch& launch, StringIndex description) {
        LaunchConfig config;
        const auto size = sizes_.find(launch.call);
        if (size != sizes_.end()) {
            config.grid = size->second.grid;
            config.block = size->second.block;
            config.dynamicSharedBytes = size->second.sharedBytes;
            // The unit of the whole grid is threads in some calls, blocks in others.
            const bool areThreads =
                launch.function.starts_with("hipExtModule") || launch.function.starts_with("hipHccModule");
            for (size_t axis = 0; axis < 3 && areThreads; ++axis)
                if (config.block[axis] > 0)
                    config.grid[axis] = (config.grid[axis] + config.block[axis] - 1) / config.block[axis];
            if (description == 0) description = context_.text(size->second.name);
        }
        context_.nameKernel(config, description);
        builder().add<kinds::Kernel>(
            range,
            {.stream = stream, .correlation = correlationOf(launch.call), .config = builder().launchConfig(config)});
    }

    struct Monitored {
        std::string_view name, title;
        CounterUnit unit;
        double scale;
    };

    void readMonitor() {
        constexpr std::array known{
            Monitored{"sclk", "GPU clock", CounterUnit::Hertz, 1e6},
            Monitored{"mclk", "Memory clock", CounterUnit::Hertz, 1e6},
            Monitored{"power", "Power", CounterUnit::Watts, 1},
            Monitored{"temp", "Temperature", CounterUnit::Celsius, 1},
        };
        enum : int { Kind, Device, Name, Start, End, Value };
        struct Samples {
            CounterSamples samples;
            int64_t endNs = 0;
        };
        std::map<std::pair<int64_t, std::string>, Samples> counters;
        RowReader reader(context_.load(), "rocpd_monitor",
                         {"deviceType", "deviceId", "monitorType", "start", "end", "value"}, "counters");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const std::optional<int64_t> thousandths = decimalOf(reader.text(Value), 3);
            if (reader.skipRowIf(reader.text(Kind) != "gpu" || !thousandths)) return;
            const std::pair key{reader.integerOr(Device, 0), std::string(reader.text(Name))};
            if (reader.skipRowIf(counters.size() >= builder().remainingCounters() && !counters.contains(key))) return;
            Samples& counter = counters[key];
            counter.samples.timesNs.push_back(times.startNs);
            counter.samples.values.push_back(static_cast<long double>(*thousandths) / 1000);
            counter.endNs = std::max(counter.endNs, times.endNs);
        });
        std::set<int64_t> monitored;
        for (const auto& [key, counter] : counters) monitored.insert(std::max<int64_t>(0, key.first));
        for (auto& [key, counter] : counters) {
            CounterSeries series;
            series.gpu = builder().gpu(workingGpuOf(std::max<int64_t>(0, key.first), monitored));
            series.key = "rpd." + key.second;
            series.name = key.second;
            series.source = "rpd";
            for (const Monitored& each : known)
                if (each.name == key.second) {
                    series.name = each.title;
                    counter.samples.unit = each.unit;
                    for (long double& value : counter.samples.values) value *= each.scale;
                }
            counter.samples.timesNs.push_back(counter.endNs);
            counter.samples.values.push_back(std::numeric_limits<long double>::quiet_NaN());
            builder().counter(std::move(series), std::move(counter.samples));
        }
    }

    /// GPU work numbers the agents of a machine, CPUs first, and the monitor its GPUs. If as many GPUs are monitored as
    /// work, they are the same ones in the same order.
    int64_t workingGpuOf(int64_t device, const std::set<int64_t>& monitored) const {
        if (monitored.size() != workingGpus_.size()) return device;
        const auto place = std::distance(monitored.begin(), monitored.find(device));
        return *std::next(workingGpus_.begin(), place);
    }

    ProfileContext context_;
    std::set<int64_t> workingGpus_;  ///< Numbers of GPUs with work.
    MixedMap<int64_t, Launch> callers_;
    MixedMap<int64_t, Copy> copies_;
    MixedMap<int64_t, KernelSize> sizes_;
    MixedMap<int64_t, int64_t> callOf_;
};

constexpr std::array unreadHipTables{
    UnreadTable{"HSA", "HSA calls"}, UnreadTable{"ROCTX", "ranges of rocTX"},   UnreadTable{"HIPTX", "ranges of hipTX"},
    UnreadTable{"MPI", "MPI calls"}, UnreadTable{"KFD", "calls of the driver"},
};

/// Names of columns that differ between the programs.
struct Columns {
    const char* device;
    const char* queue;
    const char* index;
};

/// Numbers of OpenCL for commands, which hipprof stores as the kind of a copy.
MemcpyKind copyKindOf(int64_t command) {
    constexpr std::array<std::pair<int64_t, MemcpyKind>, 6> kinds{{{0x11f3, MemcpyKind::DtoH},
                                                                   {0x11f4, MemcpyKind::HtoD},
                                                                   {0x11f5, MemcpyKind::DtoD},
                                                                   {0x1201, MemcpyKind::DtoH},
                                                                   {0x1202, MemcpyKind::HtoD},
                                                                   {0x1203, MemcpyKind::DtoD}}};
    for (const auto& [number, kind] : kinds)
        if (number == command) return kind;
    return MemcpyKind::Unknown;
}
constexpr int64_t fillCommand = 0x1207;

class HipReader {
  public:
    HipReader(LoadContext& context, bool isOfHipprof)
        : context_(context),
          isOfHipprof_(isOfHipprof),
          columns_(isOfHipprof ? Columns{"dev_id", "queue_id", "_Index"} : Columns{"dev-id", "queue-id", "Index"}) {
        for (const char* table : {"HIP", "OPS", "COPY"}) context_.beginWith(table, "BeginNs");
    }

    void read() {
        if (isOfHipprof_) readTexts();
        readCalls();
        readKernels();
        readCopies();
        context_.noteOthers();
    }

  private:
    TraceBuilder& builder() { return context_.builder(); }

    /// Indexes of calls count from 0.
    uint32_t correlationOf(RowReader& reader, int column) {
        const int64_t index = reader.integerOr(column, -1);
        return index >= 0 && index + 1 < int64_t{noIndex} ? static_cast<uint32_t>(index + 1) : 0;
    }

    void readTexts() {
        RowReader reader(context_.load(), "STR_TABLE", {"PID", "STR_ID", "STR_NAME"}, "strings");
        while (reader.next())
            texts_[{reader.integerOr(0, 0), reader.integerOr(1, 0)}] = builder().intern(reader.text(2));
    }

    /// Returns a text of the file, or the one that its number stands for.
    StringIndex nameIn(RowReader& reader, int column, int64_t pid) {
        if (!isOfHipprof_) return builder().intern(reader.text(column));
        const std::optional<int64_t> number = decimalOf(reader.text(column), 0);
        const auto found = texts_.find({pid, number.value_or(-1)});
        return found != texts_.end() ? found->second : builder().intern(reader.text(column));
    }

    void readCalls() {
        enum : int { Start, End, Pid, Tid, Name, Arguments, Index };
        RowReader reader(context_.load(), "HIP", {"BeginNs", "EndNs", "pid", "tid", "Name", "args", columns_.index},
                         "API calls");
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t thread = builder().thread(globalTid(reader.unsigned32(Pid), reader.unsigned32(Tid)));
            if (reader.skipRowIf(thread == noIndex)) return;
            // hipprof stores the function as a number, and its name in front of the arguments.
            const std::string_view arguments = reader.text(Arguments);
            const StringIndex name = isOfHipprof_ ? builder().intern(arguments.substr(0, arguments.find('(')))
                                                  : builder().intern(reader.text(Name));
            builder().add<kinds::Api>(times,
                                      {.name = name, .thread = thread, .correlation = correlationOf(reader, Index)});
        });
    }

    /// The columns of both tables of work.
    enum Place : int { Start, End, Device, Queue, Name, Pid, Index };

    uint32_t streamOf(RowReader& reader) {
        const uint32_t process = builder().process(globalPid(reader.unsigned32(Pid)));
        const uint32_t gpu = builder().gpu(std::max<int64_t>(0, reader.integerOr(Device, 0)));
        if (process == noIndex || gpu == noIndex) return noIndex;
        return builder().stream(process, gpu, 0, decimalOf(reader.text(Queue), 0).value_or(0));
    }

    /// Calls `take(reader, times, stream)` for each valid row of a table of work.
    void forEachWork(const char* table, const char* nameColumn, const char* what, auto take) {
        RowReader reader(context_.load(), table,
                         {"BeginNs", "EndNs", columns_.device, columns_.queue, nameColumn, "pid", columns_.index},
                         what);
        context_.forEachTimed(reader, Start, End, [&](TimeRange times) {
            const uint32_t stream = streamOf(reader);
            if (!reader.skipRowIf(stream == noIndex)) take(reader, times, stream);
        });
    }

    void readKernels() {
        forEachWork("OPS", "Name", "kernels", [&](RowReader& reader, TimeRange times, uint32_t stream) {
            LaunchConfig config;
            context_.nameKernel(config, nameIn(reader, Name, reader.integerOr(Pid, 0)));
            builder().add<kinds::Kernel>(times, {.stream = stream,
                                                 .correlation = correlationOf(reader, Index),
                                                 .config = builder().launchConfig(config)});
        });
    }

    void readCopies() {
        const char* const kindColumn = isOfHipprof_ ? "Kind" : "Name";
        forEachWork("COPY", kindColumn, "memcpys", [&](RowReader& reader, TimeRange times, uint32_t stream) {
            const uint32_t correlation = correlationOf(reader, Index);
            const int64_t command = isOfHipprof_ ? reader.integerOr(Name, -1) : -1;
            const MemcpyKind kind = isOfHipprof_ ? copyKindOf(command) : rocmCopyKind(reader.text(Name));
            const bool isFill = command == fillCommand || reader.text(Name).find("Fill") != std::string_view::npos;
            if (kind != MemcpyKind::Unknown)
                builder().add<kinds::Memcpy>(times, {.kind = kind, .stream = stream, .correlation = correlation});
            else if (isFill)
                builder().add<kinds::Memset>(
                    times, {.memory = MemoryKind::Device, .stream = stream, .correlation = correlation});
            else
                context_.addOther(reader.text(Name));
        });
    }

    ProfileContext context_;
    const bool isOfHipprof_;
    const Columns columns_;
    std::map<std::pair<int64_t, int64_t>, StringIndex> texts_;  ///< By process and number.
};

}  // namespace

void readRpdTrace(LoadContext& context) {
    context.builder().description().producer = "RPD";
    RpdReader(context).read();
    noteSkippedTables(context, otherTables);
}

void readHipTrace(LoadContext& context) {
    const bool isOfHipprof = context.database().hasTable("STR_TABLE");
    context.builder().description().producer = isOfHipprof ? "hipprof" : "rocprof";
    HipReader(context, isOfHipprof).read();
    noteSkippedTables(context, unreadHipTables);
}

}  // namespace lanescope
