// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/checksums.h"
#include "model/format/factNames.h"
#include "model/format/files.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/TableWriter.h"
#include "model/format/tables/Threads.h"
#include "model/trace/counterReadings.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Fills the tables of a new trace file from a trace in memory, for `writeTraceFile`.
class TraceFileWriter {
  public:
    TraceFileWriter(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

    Result<void> write();

  private:
    void add(const auto&... row) { rows_.add(row...); }
    /// Returns work on a stream; the second that of row `row` of a table.
    GpuWorkRow workOn(uint32_t stream, int64_t startNs, int64_t endNs, uint32_t correlation) const;
    GpuWorkRow workOf(const auto& table, uint32_t row) const {
        return workOn(table.stream[row], table.startNs[row], table.endNs[row], table.correlation[row]);
    }
    int64_t globalPid(uint32_t process) const { return trace_.processes[process].globalPid; }

    void strings();
    void session();
    void gpus();
    void processes();
    void facts();
    void health();
    void kernels();
    void memcpys();
    void memsets();
    void graphs();
    void memory();
    void otherKinds();
    void recordedTime();
    void links();
    void readings();
    void stacks();
    void threadStates();
    void samples();
    void apiCalls();
    void syncs();
    void ranges();
    void ncclCalls();
    void counters();

    const Trace& trace_;
    Database& database_;
    FirstError error_;
    TableWriter rows_{database_, error_};
    std::vector<int64_t> sourceNames_;  ///< Names of kernels in `StringIds`, by launch configuration.
    int64_t graphNodeName_ = 0;         ///< In `StringIds`.
};

Result<void> TraceFileWriter::write() {
    if (auto begun = database_.execute("BEGIN"); !begun) return begun;
    using Step = void (TraceFileWriter::*)();
    for (const Step step :
         {&TraceFileWriter::strings,      &TraceFileWriter::session,      &TraceFileWriter::gpus,
          &TraceFileWriter::processes,    &TraceFileWriter::facts,        &TraceFileWriter::health,
          &TraceFileWriter::kernels,      &TraceFileWriter::memcpys,      &TraceFileWriter::memsets,
          &TraceFileWriter::graphs,       &TraceFileWriter::memory,       &TraceFileWriter::otherKinds,
          &TraceFileWriter::recordedTime, &TraceFileWriter::links,        &TraceFileWriter::readings,
          &TraceFileWriter::stacks,       &TraceFileWriter::threadStates, &TraceFileWriter::samples,
          &TraceFileWriter::apiCalls,     &TraceFileWriter::syncs,        &TraceFileWriter::ranges,
          &TraceFileWriter::ncclCalls,    &TraceFileWriter::counters})
        (this->*step)();
    if (error_) return fail(*error_);
    if (auto dropped = dropEmptyTables(database_); !dropped) return dropped;
    return database_.execute("COMMIT");
}

GpuWorkRow TraceFileWriter::workOn(uint32_t streamIndex, int64_t startNs, int64_t endNs, uint32_t correlation) const {
    const Stream& stream = trace_.streams[streamIndex];
    return {.startNs = startNs,
            .endNs = endNs,
            .globalPid = globalPid(stream.process),
            .deviceId = trace_.gpus[stream.gpu].id,
            .contextId = stream.contextId,
            .streamId = stream.streamId,
            .correlationId = correlation};
}

/// Names of threads come after all others. Readers of Nsight Systems exports expect one for every
/// thread: an unnamed thread gets the name of its process, or its number.
void TraceFileWriter::strings() {
    constexpr const auto& t = tables::strings;
    constexpr int64_t defaultPriority = 20;
    for (StringIndex id = 0; id < trace_.strings.size(); ++id) add(t, t.id = id, t.value = trace_.strings.at(id));
    int64_t id = trace_.strings.size();
    for (const Thread& thread : trace_.threads) {
        const bool isOwn = !thread.name.empty();
        const std::string& program = trace_.processes[thread.process].name;
        add(t, t.id = id,
            t.value = isOwn              ? thread.name
                      : !program.empty() ? program
                                         : fmt::format("thread {}", thread.tid));
        rows_.addThreadName(thread.globalTid, id++, isOwn ? defaultPriority : tables::substitutePriority);
    }
    // A file has the names of the source; known names are derived when it is read.
    std::map<std::string_view, int64_t> known;
    for (const LaunchConfig& config : trace_.launchConfigs) {
        const std::string_view source = sourceName(trace_, config);
        const bool isShort = source == trace_.strings.at(config.shortName);
        const auto [found, isNew] = known.try_emplace(source, isShort ? config.shortName : id);
        if (isNew && !isShort) add(t, t.id = id++, t.value = source);
        sourceNames_.push_back(found->second);
    }
    if (trace_.graphNodes.size() == 0) return;
    graphNodeName_ = id;
    add(t, t.id = id, t.value = tables::GraphNodes::eventName);
}

void TraceFileWriter::session() {
    constexpr const auto& t = tables::sessionStart;
    if (trace_.startUtcNs > 0) add(t, t.utcEpochNs = trace_.startUtcNs);
    // The recorder, not the writer of the file.
    constexpr const auto& m = tables::exportMetaData;
    const Result<void> cleared =
        database_.execute(fmt::format("DELETE FROM {} WHERE name = '{}'", m.tableName(), tables::producerName).c_str());
    if (!cleared && !error_) error_ = cleared.error();
    add(m, m.name = tables::producerName, m.value = trace_.producer);
}

void TraceFileWriter::gpus() {
    constexpr const auto& t = tables::gpus;
    for (const Gpu& gpu : trace_.gpus)
        add(t, t.id = gpu.id, t.name = gpu.name, t.busLocation = gpu.busLocation, t.totalMemory = gpu.memoryBytes,
            t.memoryBandwidth = gpu.memoryBandwidthBytesPerSecond, t.smCount = gpu.smCount, t.uuid = gpu.uuid,
            t.computeMajor = gpu.computeMajor, t.computeMinor = gpu.computeMinor);
    // The process's number of a GPU is its number in the file.
    constexpr const auto& device = tables::cudaDevices;
    std::set<std::pair<uint32_t, uint32_t>> written;
    // Plain PIDs, as in exports, if that distinguishes the processes.
    const bool isOneHost =
        std::ranges::all_of(trace_.processes, [](const Process& process) { return hostOf(process.globalPid) == 0; });
    for (const Stream& stream : trace_.streams) {
        if (!written.emplace(stream.process, stream.gpu).second) continue;
        const Process& process = trace_.processes[stream.process];
        const int64_t gpu = trace_.gpus[stream.gpu].id;
        add(device, device.gpuId = gpu, device.cudaId = gpu,
            device.pid = isOneHost ? int64_t{process.pid} : process.globalPid);
    }
    constexpr const auto& null = tables::nullStreams;
    for (const Stream& stream : trace_.streams)
        if (stream.isNullStream)
            add(null, null.streamId = stream.streamId, null.processId = trace_.processes[stream.process].pid,
                null.deviceId = trace_.gpus[stream.gpu].id, null.contextId = stream.contextId);
}

void TraceFileWriter::processes() {
    constexpr const auto& t = tables::processes;
    constexpr const auto& state = tables::processStates;
    for (const Process& process : trace_.processes) {
        add(t, t.globalPid = process.globalPid, t.pid = process.pid, t.name = process.name);
        add(state, state.globalPid = process.globalPid, state.rank = process.rank, state.localRank = process.localRank,
            state.worldSize = process.worldSize, state.endedNormally = !process.endedAbnormally,
            state.endNs = process.range.isEmpty() ? std::nullopt : std::optional(process.range.endNs));
    }
}

void TraceFileWriter::facts() {
    const auto addFact = [&](std::optional<int64_t> process, std::string_view name, const std::string& value) {
        if (!value.empty()) rows_.addProperty(process, name, value);
    };
    const auto addAll = [&](const auto& facts, std::optional<int64_t> process) {
        forEachFact(facts, [&](const FactName& name, const auto& value) {
            addFact(process, name.identifier, factText(name, value));
        });
        for (const Property& each : facts.others) addFact(process, each.name, each.value);
    };
    addAll(trace_.facts, std::nullopt);
    for (const HostName& host : trace_.facts.hosts)
        addFact(std::nullopt, numberedFactName(facts::host, host.number), host.name);
    for (const SamplerFacts& sampler : trace_.facts.samplers)
        forEachFact(sampler, [&](const FactName& name, const auto& value) {
            addFact(std::nullopt, hostFactName(sampler.host, name.identifier), factText(name, value));
        });
    for (const Process& process : trace_.processes) addAll(*process.facts, process.globalPid);
    for (const GpuFacts& gpu : trace_.gpuFacts)
        forEachFact(gpu, [&](const FactName& name, const auto& value) {
            addFact(std::nullopt, gpuFactName(gpu.gpu, name.identifier), factText(name, value));
        });
}

void TraceFileWriter::health() {
    for (const HealthNote& note : trace_.health)
        if (!isRecomputed(note.code))
            rows_.addHealth(
                note.severity,
                note.code == HealthCode::Unknown ? std::string_view(note.unknownCode) : identifier(note.code),
                note.sentence, note.globalPid, note.timeNs, note.count);
}

void TraceFileWriter::kernels() {
    constexpr const auto& t = tables::kernels;
    const KernelTable& table = trace_.kernels;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const LaunchConfig config = trace_.launchConfigs[table.config[row]];
        add(t, workOf(table, row), t.demangledName = config.demangledName,
            t.shortName = sourceNames_[table.config[row]], t.mangledName = config.mangledName,
            t.registersPerThread = config.registersPerThread, t.gridX = config.grid[0], t.gridY = config.grid[1],
            t.gridZ = config.grid[2], t.blockX = config.block[0], t.blockY = config.block[1],
            t.blockZ = config.block[2], t.staticSharedMemory = config.staticSharedBytes,
            t.dynamicSharedMemory = config.dynamicSharedBytes, t.localMemoryPerThread = 0, t.localMemoryTotal = 0,
            t.gridId = 0, t.graphNodeId = nullIfZero(table.graphNode[row]));
    }
}

void TraceFileWriter::memcpys() {
    constexpr const auto& t = tables::memcpys;
    const MemcpyTable& table = trace_.memcpys;
    const auto gpuOf = [this](int16_t gpu) -> std::optional<int64_t> {
        if (gpu < 0) return std::nullopt;
        return trace_.gpus[static_cast<size_t>(gpu)].id;
    };
    uint32_t next = 0;  // next migration; they are in the order of their copies
    for (uint32_t row = 0; row < table.size(); ++row) {
        std::optional<MigrationCause> cause;
        std::optional<uint64_t> address;
        if (next < trace_.migrations.size() && trace_.migrations.memcpy[next] == row) {
            cause = trace_.migrations.cause[next];
            address = trace_.migrations.address[next++];
        }
        add(t, workOf(table, row), t.bytes = table.bytes[row], t.copyKind = table.kind[row],
            t.srcKind = table.sourceMemory[row], t.dstKind = table.destinationMemory[row],
            t.srcDeviceId = gpuOf(table.sourceDevice[row]), t.dstDeviceId = gpuOf(table.destinationDevice[row]),
            t.migrationCause = cause, t.virtualAddress = address);
    }
}

void TraceFileWriter::memsets() {
    constexpr const auto& t = tables::memsets;
    const MemsetTable& table = trace_.memsets;
    for (uint32_t row = 0; row < table.size(); ++row)
        add(t, workOf(table, row), t.bytes = table.bytes[row], t.value = table.value[row],
            t.memKind = table.memory[row]);
}

/// Kinds that files of other tools also contain.
constexpr bool isOfAnotherTool(EventKind kind) {
    constexpr std::array kinds{EventKind::Kernel, EventKind::Memcpy, EventKind::Memset,
                               EventKind::Api,    EventKind::Sync,   EventKind::Nvtx};
    return std::ranges::find(kinds, kind) != kinds.end();
}

/// Fills a database that was just made, and closes it.
Result<void> fill(const Trace& trace, Database database, bool isToBeSealed) {
    if (auto created = createTraceTables(database, TraceState::Unfinished); !created) return created;
    if (isToBeSealed)
        if (auto announced = announceSeal(database); !announced) return announced;
    if (auto written = TraceFileWriter(trace, database).write(); !written) return written;
    return markWhole(database);
}

std::filesystem::path partialOf(std::filesystem::path path) {
    path += unfinishedEnding;
    return path;
}

Result<void> write(const Trace& trace, const std::filesystem::path& path, bool isToBeSealed) {
    if (const Result<void> place = checkPlaceForTrace(path, {}); !place) return place;
    const std::filesystem::path partial = partialOf(path);
    Result<Database> database = Database::create(partial);
    if (!database) return fail(database.error());
    Result<void> written = fill(trace, std::move(*database), isToBeSealed);
    if (written && isToBeSealed) written = sealPages(partial);
    if (!written) {
        static_cast<void>(removeFile(partial));
        return written;
    }
    // Complete at this point: if it cannot be renamed, the error names its path.
    return publishFile(partial, path, IfExists::Fail);
}

/// Returns the id of a call's stack, if that is its own.
std::optional<int64_t> ownStack(const auto& table, uint32_t row) {
    if (table.stack[row] == noIndex || table.isStackLent[row] != 0) return std::nullopt;
    return int64_t{table.stack[row]} + 1;
}

NvtxEventType eventType(NvtxStyle style, bool isOpen) {
    switch (style) {
        case NvtxStyle::StartEnd: return isOpen ? NvtxEventType::OpenStart : NvtxEventType::StartEnd;
        case NvtxStyle::Mark: return NvtxEventType::Mark;
        case NvtxStyle::PushPop: break;
    }
    return isOpen ? NvtxEventType::OpenPush : NvtxEventType::PushPop;
}

std::optional<std::string_view> identifier(LinkDirection direction) {
    if (direction == LinkDirection::Transmit) return "tx";
    if (direction == LinkDirection::Receive) return "rx";
    return std::nullopt;
}

std::optional<std::string_view> hostMemory(MemoryKind kind) {
    if (kind == MemoryKind::Pinned || kind == MemoryKind::Pageable) return name(kind);
    return std::nullopt;
}

std::optional<int64_t> gpuOrNone(int64_t gpu) { return gpu == noGpuId ? std::nullopt : std::optional(gpu); }

}  // namespace

bool isOfSqlite(const Trace& trace) {
    bool hasOthers = trace.memoryEvents.size() + trace.migrations.size() > 0;
    forEachKind([&](auto each) {
        if constexpr (each.origin == kinds::Origin::Recorded)
            if (!isOfAnotherTool(each.kind) && each.size(trace) > 0) hasOthers = true;
    });
    return hasOthers;
}

Result<void> checkPlaceForTrace(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs) {
    if (const Result<void> other = checkIsNoInput(path, inputs); !other) return other;
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_other(status)) return fail("{}: cannot write, not a regular file.", path.string());
    if (const Result<void> place = checkPlace(path); !place) return place;
    if (mayExist(path)) return fail("{}: the file exists. Choose another name, or remove it.", path.string());
    const std::filesystem::path partial = partialOf(path);
    if (const size_t bytes = partial.filename().string().size(); bytes > NAME_MAX)
        return fail(
            "{}: cannot write, the name is {} bytes too long with {}, which is appended until the trace is complete. "
            "Choose a shorter one.",
            path.string(), bytes - NAME_MAX, unfinishedEnding);
    if (mayExist(partial))
        return fail(
            "{1}: {0} exists, so the trace is being written, or writing was interrupted. Choose another name, or "
            "remove that file if no program writes it.",
            partial.string(), path.string());
    return {};
}

Result<void> writeTraceFile(const Trace& trace, const std::filesystem::path& path) { return write(trace, path, false); }

Result<void> writeSealedTraceFile(const Trace& trace, const std::filesystem::path& path) {
    return write(trace, path, true);
}

void TraceFileWriter::apiCalls() {
    constexpr const auto& t = tables::apiCalls;
    const ApiTable& table = trace_.apiCalls;
    for (uint32_t row = 0; row < table.size(); ++row)
        add(t, t.start = table.startNs[row], t.end = table.endNs[row], t.eventClass = table.isDriver[row],
            t.globalTid = trace_.threads[table.thread[row]].globalTid, t.correlationId = table.correlation[row],
            t.nameId = table.name[row], t.returnValue = table.returnValue[row], t.callchainId = ownStack(table, row));
}

/// Waits of streams are linked to the awaited records by numbers from 1.
void TraceFileWriter::syncs() {
    constexpr int64_t wholeContext = 0xffffffff;
    constexpr const auto& t = tables::syncs;
    constexpr const auto& recorded = tables::cudaEvents;
    std::map<std::pair<uint32_t, uint32_t>, int64_t> waits;  // by stream and correlation
    const StreamWaitTable& ofStreams = trace_.streamWaits;
    for (uint32_t row = 0; row < ofStreams.size(); ++row) {
        const int64_t number = int64_t{row} + 1;
        waits[{ofStreams.waitingStream[row], ofStreams.waitCorrelation[row]}] = number;
        const GpuWorkRow at = workOn(ofStreams.recordedStream[row], 0, 0, ofStreams.recordCorrelation[row]);
        add(recorded, recorded.deviceId = at.deviceId, recorded.contextId = at.contextId,
            recorded.streamId = at.streamId, recorded.correlationId = at.correlationId,
            recorded.globalPid = at.globalPid, recorded.eventId = number, recorded.eventSyncId = number);
    }
    const SyncTable& table = trace_.syncs;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const GpuWorkRow ofContext{table.startNs[row], table.endNs[row],      globalPid(table.process[row]), -1, 0,
                                   wholeContext,       table.correlation[row]};
        const auto wait = waits.find({table.stream[row], table.correlation[row]});
        const bool isConnected = table.type[row] == SyncType::StreamWaitEvent && wait != waits.end();
        add(t, table.stream[row] == noIndex ? ofContext : workOf(table, row), t.syncType = table.type[row],
            t.eventId = isConnected ? wait->second : -1,
            t.eventSyncId = isConnected ? std::optional(wait->second) : std::nullopt);
    }
}

/// Range n is row n + 1 of the file; names of domains and categories follow.
void TraceFileWriter::ranges() {
    constexpr const auto& t = tables::nvtxEvents;
    constexpr const auto& s = tables::nvtxStacks;
    const NvtxTable& table = trace_.nvtx;
    // Each process numbers its domains, and these number their categories.
    std::map<std::pair<uint32_t, StringIndex>, int64_t> domains;
    std::set<std::tuple<int64_t, int64_t, StringIndex>> categories;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const Thread& thread = trace_.threads[table.thread[row]];
        int64_t domain = 0;
        if (table.domain[row] != 0)
            domain = domains.try_emplace({thread.process, table.domain[row]}, static_cast<int64_t>(domains.size()) + 1)
                         .first->second;
        std::optional<int64_t> end;
        if (table.isOpen[row] == 0 && table.style[row] != NvtxStyle::Mark) end = table.endNs[row];
        if (table.category[row] != 0) categories.insert({globalPid(thread.process), domain, table.category[row]});
        add(t, t.start = table.startNs[row], t.end = end,
            t.eventType = eventType(table.style[row], table.isOpen[row] != 0),
            t.text = nullIfEmpty(trace_.strings.at(table.text[row])), t.textId = table.text[row],
            t.globalTid = thread.globalTid, t.domainId = domain, t.category = nullIfZero(table.category[row]),
            t.color = nullIfZero(table.colorArgb[row]),
            t.jsonText = nullIfEmpty(trace_.strings.at(table.payload[row])));
        if (const auto stack = ownStack(table, row)) add(s, s.nvtxRow = int64_t{row} + 1, s.callchainId = *stack);
    }
    constexpr const auto& b = tables::backwards;
    for (uint32_t row = 0; row < trace_.backwards.size(); ++row)
        add(b, b.forwardRow = int64_t{trace_.backwards.forward[row]} + 1,
            b.backwardRow = int64_t{trace_.backwards.backward[row]} + 1);
    for (const auto& [key, number] : domains)
        rows_.addRangeName(0, globalPid(key.first), number, {}, trace_.strings.at(key.second), key.second);
    for (const auto& [process, domain, category] : categories)
        rows_.addRangeName(0, process, domain, category, trace_.strings.at(category), category);
}

void TraceFileWriter::ncclCalls() {
    constexpr const auto& t = tables::ncclOperations;
    constexpr const auto& more = tables::ncclPluginOperations;
    constexpr const auto& c = tables::ncclCommunicators;
    std::set<std::pair<int64_t, uint64_t>> seen;
    const NcclTable& table = trace_.nccl;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const NcclFacts facts = table.facts[row];
        const Thread& thread = trace_.threads[trace_.nvtx.thread[table.nvtx[row]]];
        const std::string_view operation = trace_.strings.at(table.operation[row]);
        const auto communicator = static_cast<int64_t>(table.communicator[row]);
        add(t, t.nvtxRow = int64_t{table.nvtx[row]} + 1, t.globalTid = thread.globalTid, t.operation = operation,
            t.bytes = nullIfNegative(table.bytes[row]), t.communicator = communicator,
            t.root = nullIfNegative(facts.root), t.peer = nullIfNegative(facts.peer));
        const int64_t process = globalPid(thread.process);
        if (communicator != 0 && seen.insert({process, table.communicator[row]}).second)
            add(c, c.globalPid = process, c.communicator = communicator, c.rank = nullIfNegative(facts.rank),
                c.rankCount = nullIfNegative(facts.rankCount),
                c.name = nullIfEmpty(trace_.strings.at(facts.communicatorName)));
        const bool isHowKnown = facts.algorithm != 0 || facts.protocol != 0 || facts.channels >= 0;
        if (facts.datatype == 0 && facts.count < 0 && facts.sequence < 0 && !isHowKnown) continue;
        std::optional<int64_t> launchThread, launchStart, launchEnd;
        if (facts.launchThread != noIndex) {
            launchThread = trace_.threads[facts.launchThread].globalTid;
            launchStart = facts.launch.startNs;
            launchEnd = facts.launch.endNs;
        }
        add(more, more.globalTid = thread.globalTid, more.start = trace_.nvtx.startNs[table.nvtx[row]],
            more.end = trace_.nvtx.endNs[table.nvtx[row]], more.operation = operation,
            more.datatype = nullIfEmpty(trace_.strings.at(facts.datatype)), more.count = nullIfNegative(facts.count),
            more.bytes = nullIfNegative(table.bytes[row]), more.communicator = communicator,
            more.rank = nullIfNegative(facts.rank), more.root = nullIfNegative(facts.root),
            more.peer = nullIfNegative(facts.peer), more.sequence = nullIfNegative(facts.sequence),
            more.algorithm = nullIfEmpty(trace_.strings.at(facts.algorithm)),
            more.protocol = nullIfEmpty(trace_.strings.at(facts.protocol)),
            more.channels = nullIfNegative(facts.channels), more.warps = nullIfNegative(facts.warps),
            more.isCaptured = facts.isCaptured, more.launchGlobalTid = launchThread, more.launchStart = launchStart,
            more.launchEnd = launchEnd);
    }
}

/// Not the original readings, but equal in display. Counters computed from other events are recomputed.
void TraceFileWriter::counters() {
    constexpr const auto& t = tables::counters;
    constexpr const auto& s = tables::counterSamples;
    int64_t id = 0;
    for (const CounterSeries& series : trace_.counters) {
        if (series.source.empty()) continue;
        ++id;
        std::optional<int64_t> gpu, process, interval;
        if (series.gpu != noIndex) gpu = trace_.gpus[series.gpu].id;
        if (series.process != noIndex) process = globalPid(series.process);
        if (series.intervalNs > 0) interval = series.intervalNs;
        const CounterSamples read = samplesOf(series);
        add(t, t.counterId = id, t.source = series.source, t.name = series.key, t.title = series.name,
            t.unit = identifier(series.unit), t.meaning = read.meaning, t.gpuId = gpu, t.globalPid = process,
            t.link = nullIfNegative(series.link), t.core = nullIfNegative(series.core),
            t.device = nullIfEmpty(series.device), t.intervalNs = interval);
        for (size_t sample = 0; sample < read.timesNs.size(); ++sample) {
            std::optional<double> value;
            if (!std::isnan(read.values[sample])) value = static_cast<double>(read.values[sample]);
            add(s, s.counterId = id, s.timestamp = read.timesNs[sample], s.value = value);
        }
    }
}

void TraceFileWriter::graphs() {
    constexpr const auto& t = tables::graphs;
    const GraphTable& table = trace_.graphs;
    for (uint32_t row = 0; row < table.size(); ++row)
        add(t, workOf(table, row), t.graphId = table.graph[row], t.graphExecId = table.graph[row]);
}

/// A pool has rows of its own, so memory rows only name their pool.
void TraceFileWriter::memory() {
    constexpr int64_t created = 0, destroyed = 2, ofProcess = 1;
    constexpr const auto& t = tables::memoryEvents;
    constexpr const auto& p = tables::poolEvents;
    const auto gpuOf = [this](uint32_t gpu) { return gpu < trace_.gpus.size() ? trace_.gpus[gpu].id : int64_t{-1}; };
    const MemoryEventTable& table = trace_.memoryEvents;
    for (uint32_t row = 0; row < table.size(); ++row)
        add(t, t.start = table.timeNs[row], t.globalPid = globalPid(table.process[row]),
            t.deviceId = gpuOf(table.gpu[row]), t.contextId = 0, t.address = table.address[row], t.pc = 0,
            t.bytes = table.bytes[row], t.memKind = table.kind[row], t.memoryOperationType = table.isFree[row],
            t.correlationId = table.correlation[row],
            t.localMemoryPoolAddress = table.isPooled[row] != 0 ? std::optional<int64_t>(0) : std::nullopt);
    const MemoryPoolTable& sizes = trace_.memoryPools;
    for (uint32_t row = 0; row < sizes.size(); ++row)
        add(p, p.start = sizes.timeNs[row], p.globalPid = globalPid(sizes.process[row]),
            p.deviceId = gpuOf(sizes.gpu[row]), p.address = sizes.address[row],
            p.operationType = sizes.bytes[row] == 0 ? destroyed : created, p.poolType = ofProcess,
            p.localMemoryPoolSize = sizes.bytes[row]);
}

/// Kinds that know their tables.
void TraceFileWriter::otherKinds() {
    forEachKind([&](auto each) {
        if constexpr (requires { each.write(trace_, rows_); }) each.write(trace_, rows_);
    });
}

void TraceFileWriter::recordedTime() {
    constexpr const auto& w = tables::windows;
    constexpr const auto& g = tables::gaps;
    for (const Process& process : trace_.processes) {
        int64_t number = 0;
        for (const TimeRange& window : process.windows)
            add(w, w.globalPid = process.globalPid, w.index = number++, w.startNs = window.startNs,
                w.endNs = window.endNs);
        for (const Gap& gap : process.gaps)
            add(g, g.globalPid = process.globalPid, g.what = gap.what, g.startNs = gap.range.startNs,
                g.endNs = gap.range.endNs, g.count = gap.count);
    }
}

void TraceFileWriter::links() {
    constexpr const auto& t = tables::topology;
    constexpr const auto& a = tables::affinities;
    constexpr const auto& p = tables::linkPeaks;
    for (const GpuConnection& each : trace_.interconnect.connections)
        add(t, t.gpuId = each.gpu, t.peerGpuId = each.peer, t.nvlinkCount = each.nvlinks, t.connection = each.name,
            t.abbreviation = each.abbreviation);
    for (const GpuAffinity& each : trace_.interconnect.affinities)
        add(a, a.gpuId = each.gpu, a.cpus = each.cpus, a.numaNode = nullIfNegative(each.numaNode));
    for (const LinkPeak& each : trace_.interconnect.peaks)
        add(p, p.kind = identifier(each.kind), p.gpuId = gpuOrNone(each.gpu), p.peerGpuId = gpuOrNone(each.peer),
            p.direction = identifier(each.direction), p.memory = hostMemory(each.memory),
            p.bytesPerSecond = each.bytesPerSecond, p.links = each.links, p.generation = each.generation,
            p.width = each.width, p.origin = each.origin == PeakOrigin::Measured ? "measured" : "nvml");
    constexpr const auto& r = tables::roofs;
    for (const Roof& each : trace_.interconnect.roofs)
        add(r, r.kind = each.kind == RoofKind::Gemm ? "gemm" : "dram", r.gpuId = each.gpu, r.operation = each.operation,
            r.m = nullIfZero(each.m), r.n = nullIfZero(each.n), r.k = nullIfZero(each.k), r.perSecond = each.perSecond,
            r.smClockHz = nullIfZero(each.smClockHz), r.powerMilliwatts = nullIfZero(each.powerMilliwatts),
            r.temperature = nullIfZero(each.temperature), r.software = nullIfEmpty(each.software));
}

void TraceFileWriter::readings() {
    constexpr const auto& m = tables::samplingMoments;
    constexpr const auto& u = tables::gpuProcesses;
    for (const SampledRange& each : trace_.interconnect.sampledRanges) {
        const auto insert = [&](int64_t timeNs, bool isEnd, TimeRange reading) {
            std::optional<int64_t> readStart, readEnd;
            if (!reading.isEmpty()) {
                readStart = reading.startNs;
                readEnd = reading.endNs;
            }
            add(m, m.timestamp = timeNs, m.range = each.name, m.occurrence = each.occurrence, m.isEnd = isEnd,
                m.globalPid = nullIfZero(each.globalPid), m.readStart = readStart, m.readEnd = readEnd);
        };
        insert(each.range.startNs, false, each.startReading);
        insert(each.range.endNs, true, each.endReading);
    }
    for (const GpuProcessUse& each : trace_.interconnect.gpuProcesses) {
        std::optional<double> percent;
        if (each.smPercent >= 0) percent = each.smPercent;
        add(u, u.timestamp = each.timeNs, u.gpuId = each.gpu, u.pid = each.pid, u.name = nullIfEmpty(each.name),
            u.bytes = nullIfNegative(each.bytes), u.smPercent = percent);
    }
}

void TraceFileWriter::stacks() {
    const StackTable& table = trace_.stacks;
    for (uint32_t row = 0; row < table.size(); ++row)
        add(StackRow{.id = int64_t{row} + 1,
                     .parent = table.parent[row] == noIndex ? 0 : int64_t{table.parent[row]} + 1,
                     .function = table.function[row],
                     .file = table.file[row],
                     .line = table.line[row],
                     .module = table.module[row],
                     .operators = table.operators[row],
                     .code = table.code[row]});
    const GraphNodeTable& made = trace_.graphNodes;
    for (uint32_t row = 0; row < made.size(); ++row) {
        // Borrowed stacks are derived again.
        const bool isOriginal = made.original[row] == 0;
        add(GraphNodeRow{.timeNs = made.timeNs[row],
                         .globalTid = trace_.threads[made.thread[row]].globalTid,
                         .nameId = graphNodeName_,
                         .node = made.node[row],
                         .original = made.original[row],
                         .stack = isOriginal ? ownStack(made, row) : std::nullopt});
    }
}

/// Writes the states of threads from samples and from the scheduler. A row of the scheduler is complete as a state: the
/// thread was running or runnable for its whole length. Library calls are skipped; traces have no table for them.
void TraceFileWriter::threadStates() {
    constexpr const auto& t = tables::threadStates;
    const CpuStateTable& table = trace_.cpuStates;
    const auto threadIn = [this](uint32_t thread) {
        return thread == noIndex ? std::nullopt : std::optional(trace_.threads[thread].globalTid);
    };
    const auto stackIn = [](uint32_t stack) {
        return stack == noIndex ? std::nullopt : std::optional(int64_t{stack} + 1);
    };
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (table.source[row] == StateSource::Calls || table.source[row] == StateSource::Samples) continue;
        add(t, t.start = table.startNs[row], t.end = table.endNs[row],
            t.globalTid = trace_.threads[table.thread[row]].globalTid, t.state = table.state[row],
            t.callchainId = stackIn(table.stack[row]), t.cpuNs = table.cpuNs[row], t.delayNs = table.delayNs[row],
            t.callId = nullIfZero(table.call[row]), t.holderTid = threadIn(table.holder[row]),
            t.holderCallchainId = stackIn(table.holderStack[row]));
    }
}

/// Writes each stack once, by the number of its row.
void TraceFileWriter::samples() {
    constexpr const auto& t = tables::sampleEvents;
    constexpr const auto& c = tables::samplingCallchains;
    const CpuStateTable& table = trace_.cpuStates;
    std::vector<bool> isWritten(trace_.stacks.size());
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (table.source[row] != StateSource::Samples) continue;
        const uint32_t stack = table.stack[row];
        const int64_t id = stack == noIndex ? 0 : int64_t{stack} + 1;
        add(t, t.id = id, t.start = table.startNs[row], t.globalTid = trace_.threads[table.thread[row]].globalTid);
        if (stack == noIndex || isWritten[stack]) continue;
        isWritten[stack] = true;
        int64_t depth = 0;
        for (const uint32_t frame : framesOf(trace_, stack))
            add(c, c.id = id, c.symbol = trace_.stacks.function[frame], c.module = trace_.stacks.file[frame],
                c.stackDepth = depth++, c.line = nullIfZero(trace_.stacks.line[frame]));
    }
}

}  // namespace lanescope
