// SPDX-License-Identifier: Apache-2.0
#include "model/export/TraceFileWriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/format/factNames.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "model/trace/gpuNames.h"

namespace lanescope {

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

}  // namespace lanescope
