// SPDX-License-Identifier: Apache-2.0
#include "tests/support/writeTrace.h"

#include <map>
#include <string>

#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Gpus.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Kernels.h"
#include "model/format/tables/MemoryEvents.h"
#include "model/format/tables/Names.h"
#include "model/format/tables/Nccl.h"
#include "model/format/tables/Nvtx.h"
#include "model/format/tables/PageFaults.h"
#include "model/format/tables/Recording.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Syncs.h"

namespace lanescope {

namespace {

/// What all activity of a GPU says of where it ran.
struct Place {
    int64_t process, gpu, context, stream;
};

class Writer {
  public:
    Writer(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

    Result<void> write() {
        if (auto begun = database_.execute("BEGIN"); !begun) return begun;
        using Step = void (Writer::*)();
        for (const Step step :
             {&Writer::strings, &Writer::machine, &Writer::processes, &Writer::kernels,
              &Writer::memcpys, &Writer::memsets, &Writer::graphs, &Writer::memoryEvents,
              &Writer::pageFaults, &Writer::recordedTime, &Writer::apiCalls, &Writer::syncs,
              &Writer::nvtx, &Writer::nccl, &Writer::plugin})
            (this->*step)();
        if (error_) return fail(*error_);
        return database_.execute("COMMIT");
    }

  private:
    template <class Table>
    Inserter<Table> into(const Table& table) {
        return Inserter<Table>(database_, table, error_);
    }

    Place placeOf(uint32_t streamIndex) const {
        const Stream& stream = trace_.streams[streamIndex];
        return {trace_.processes[stream.process].globalPid, trace_.gpus[stream.gpu].id,
                stream.contextId, stream.streamId};
    }

    void strings() {
        constexpr const auto& t = tables::strings;
        auto rows = into(t);
        for (StringIndex id = 0; id < trace_.strings.size(); ++id)
            rows.insert(t.id = id, t.value = trace_.strings.at(id));
        // Names of threads come after all others.
        int64_t id = trace_.strings.size();
        constexpr const auto& name = tables::threadNames;
        auto names = into(name);
        for (const Thread& thread : trace_.threads) {
            rows.insert(t.id = id, t.value = thread.name);
            names.insert(name.nameId = id++, name.priority = 10, name.globalTid = thread.globalTid);
        }
    }

    void machine() {
        constexpr const auto& t = tables::gpus;
        auto gpus = into(t);
        for (const Gpu& gpu : trace_.gpus)
            gpus.insert(t.id = gpu.id, t.name = gpu.name, t.totalMemory = gpu.memoryBytes,
                        t.memoryBandwidth = gpu.memoryBandwidthBytesPerSecond,
                        t.smCount = gpu.smCount);
        constexpr const auto& null = tables::nullStreams;
        auto nulls = into(null);
        for (const Stream& stream : trace_.streams)
            if (stream.isNullStream)
                nulls.insert(null.streamId = stream.streamId,
                             null.processId = trace_.processes[stream.process].pid,
                             null.deviceId = trace_.gpus[stream.gpu].id,
                             null.contextId = stream.contextId);
    }

    void processes() {
        constexpr const auto& t = tables::processes;
        constexpr const auto& state = tables::processStates;
        auto rows = into(t);
        auto states = into(state);
        for (const Process& process : trace_.processes) {
            rows.insert(t.globalPid = process.globalPid, t.pid = process.pid,
                        t.name = process.name);
            states.insert(state.globalPid = process.globalPid, state.rank = process.rank,
                          state.endedNormally = !process.endedAbnormally);
        }
    }

    void kernels() {
        constexpr const auto& t = tables::kernels;
        auto rows = into(t);
        const KernelTable& table = trace_.kernels;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const LaunchConfig& config = trace_.launchConfigs[table.config[row]];
            const Place place = placeOf(table.stream[row]);
            rows.insert(
                t.start = table.startNs[row], t.end = table.endNs[row], t.globalPid = place.process,
                t.deviceId = place.gpu, t.contextId = place.context, t.streamId = place.stream,
                t.correlationId = table.correlation[row], t.demangledName = config.demangledName,
                t.shortName = config.shortName, t.mangledName = config.mangledName,
                t.registersPerThread = config.registersPerThread, t.gridX = config.grid[0],
                t.gridY = config.grid[1], t.gridZ = config.grid[2], t.blockX = config.block[0],
                t.blockY = config.block[1], t.blockZ = config.block[2],
                t.staticSharedMemory = config.staticSharedBytes,
                t.dynamicSharedMemory = config.dynamicSharedBytes, t.localMemoryPerThread = 0,
                t.localMemoryTotal = 0, t.gridId = 0);
        }
    }

    void memcpys() {
        constexpr const auto& t = tables::memcpys;
        auto rows = into(t);
        const MemcpyTable& table = trace_.memcpys;
        std::map<uint32_t, uint32_t> migrations;  // by row of the copy
        for (uint32_t row = 0; row < trace_.migrations.size(); ++row)
            migrations[trace_.migrations.memcpy[row]] = row;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Place place = placeOf(table.stream[row]);
            std::optional<uint64_t> address;
            std::optional<MigrationCause> cause;
            if (const auto found = migrations.find(row); found != migrations.end()) {
                address = trace_.migrations.address[found->second];
                cause = trace_.migrations.cause[found->second];
            }
            rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                        t.globalPid = place.process, t.deviceId = place.gpu,
                        t.contextId = place.context, t.streamId = place.stream,
                        t.correlationId = table.correlation[row], t.bytes = table.bytes[row],
                        t.copyKind = table.kind[row], t.srcKind = table.sourceMemory[row],
                        t.dstKind = table.destinationMemory[row], t.virtualAddress = address,
                        t.migrationCause = cause);
        }
    }

    void memsets() {
        constexpr const auto& t = tables::memsets;
        auto rows = into(t);
        const MemsetTable& table = trace_.memsets;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Place place = placeOf(table.stream[row]);
            rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                        t.globalPid = place.process, t.deviceId = place.gpu,
                        t.contextId = place.context, t.streamId = place.stream,
                        t.correlationId = table.correlation[row], t.bytes = table.bytes[row],
                        t.value = table.value[row], t.memKind = table.memory[row]);
        }
    }

    void graphs() {
        constexpr const auto& t = tables::graphs;
        auto rows = into(t);
        const GraphTable& table = trace_.graphs;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Place place = placeOf(table.stream[row]);
            rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                        t.globalPid = place.process, t.deviceId = place.gpu,
                        t.contextId = place.context, t.streamId = place.stream,
                        t.correlationId = table.correlation[row], t.graphId = table.graph[row],
                        t.graphExecId = table.graph[row]);
        }
    }

    void memoryEvents() {
        constexpr const auto& t = tables::memoryEvents;
        auto rows = into(t);
        const MemoryEventTable& table = trace_.memoryEvents;
        for (uint32_t row = 0; row < table.size(); ++row)
            rows.insert(t.start = table.timeNs[row],
                        t.globalPid = trace_.processes[table.process[row]].globalPid,
                        t.deviceId = trace_.gpus[table.gpu[row]].id, t.contextId = 1,
                        t.address = table.address[row], t.pc = 0, t.bytes = table.bytes[row],
                        t.memKind = table.kind[row], t.memoryOperationType = table.isFree[row]);
    }

    void pageFaults() {
        constexpr const auto& cpu = tables::cpuPageFaults;
        constexpr const auto& gpu = tables::gpuPageFaults;
        auto ofCpu = into(cpu);
        auto ofGpu = into(gpu);
        const PageFaultTable& table = trace_.pageFaults;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const int64_t process = trace_.processes[table.process[row]].globalPid;
            if (table.gpu[row] == noIndex)
                ofCpu.insert(cpu.start = table.startNs[row], cpu.globalPid = process,
                             cpu.address = table.address[row],
                             cpu.cpuInstruction = table.instruction[row]);
            else
                ofGpu.insert(gpu.start = table.startNs[row], gpu.end = table.endNs[row],
                             gpu.globalPid = process, gpu.deviceId = trace_.gpus[table.gpu[row]].id,
                             gpu.address = table.address[row],
                             gpu.numberOfPageFaults = table.count[row],
                             gpu.faultAccessType = table.access[row]);
        }
    }

    void recordedTime() {
        constexpr const auto& window = tables::windows;
        constexpr const auto& loss = tables::gaps;
        auto windows = into(window);
        auto gaps = into(loss);
        for (const Process& process : trace_.processes) {
            int64_t index = 0;
            for (const TimeRange& range : process.windows)
                windows.insert(window.globalPid = process.globalPid, window.index = index++,
                               window.startNs = range.startNs, window.endNs = range.endNs);
            for (const Gap& gap : process.gaps)
                gaps.insert(loss.globalPid = process.globalPid, loss.what = gap.what,
                            loss.startNs = gap.range.startNs, loss.endNs = gap.range.endNs,
                            loss.count = gap.count);
        }
    }

    void apiCalls() {
        constexpr const auto& t = tables::apiCalls;
        auto rows = into(t);
        const ApiTable& table = trace_.apiCalls;
        for (uint32_t row = 0; row < table.size(); ++row)
            rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                        t.eventClass = table.isDriver[row],
                        t.globalTid = trace_.threads[table.thread[row]].globalTid,
                        t.correlationId = table.correlation[row], t.nameId = table.name[row],
                        t.returnValue = table.returnValue[row]);
    }

    void syncs() {
        constexpr const auto& t = tables::syncs;
        auto rows = into(t);
        const SyncTable& table = trace_.syncs;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Place place = placeOf(table.stream[row]);
            rows.insert(t.start = table.startNs[row], t.end = table.endNs[row],
                        t.globalPid = trace_.processes[table.process[row]].globalPid,
                        t.deviceId = place.gpu, t.contextId = place.context,
                        t.streamId = place.stream, t.correlationId = table.correlation[row],
                        t.syncType = table.type[row], t.eventId = 0);
        }
    }

    /// Range n is row n + 1 of the file; the names of domains come after them.
    void nvtx() {
        constexpr const auto& t = tables::nvtxEvents;
        auto rows = into(t);
        const NvtxTable& table = trace_.nvtx;
        // Each process registers its domains under numbers of its own, and one thread does so.
        struct Domain {
            int64_t number, globalTid;
        };
        std::map<std::pair<uint32_t, StringIndex>, Domain> domains;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Thread& thread = trace_.threads[table.thread[row]];
            int64_t domain = 0;
            if (table.domain[row] != 0)
                domain = domains
                             .try_emplace(
                                 {thread.process, table.domain[row]},
                                 Domain{static_cast<int64_t>(domains.size()) + 1, thread.globalTid})
                             .first->second.number;
            std::optional<int64_t> end;
            if (table.isOpen[row] == 0 && table.style[row] != NvtxStyle::Mark)
                end = table.endNs[row];
            rows.insert(t.start = table.startNs[row], t.end = end,
                        t.eventType = eventType(table.style[row]), t.textId = table.text[row],
                        t.globalTid = thread.globalTid, t.domainId = domain);
        }
        for (const auto& [key, domain] : domains)
            rows.insert(t.start = 0, t.eventType = NvtxEventType::DomainName, t.textId = key.second,
                        t.globalTid = domain.globalTid, t.domainId = domain.number);
    }

    static NvtxEventType eventType(NvtxStyle style) {
        return style == NvtxStyle::PushPop    ? NvtxEventType::PushPop
               : style == NvtxStyle::StartEnd ? NvtxEventType::StartEnd
                                              : NvtxEventType::Mark;
    }

    void nccl() {
        constexpr const auto& t = tables::ncclOperations;
        auto rows = into(t);
        const NcclTable& table = trace_.nccl;
        for (uint32_t row = 0; row < table.size(); ++row)
            rows.insert(t.nvtxRow = table.nvtx[row] + 1,
                        t.operation = trace_.strings.at(table.operation[row]),
                        t.bytes = table.bytes[row], t.communicator = table.communicator[row]);
    }

    /// What NCCL's plugin told, of calls whose facts say so.
    void plugin() {
        constexpr const auto& t = tables::ncclPluginOperations;
        auto rows = into(t);
        const NcclTable& table = trace_.nccl;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const NcclFacts& facts = table.facts[row];
            if (facts.datatype == 0) continue;
            const int64_t startNs = trace_.nvtx.startNs[table.nvtx[row]];
            const uint32_t thread = trace_.nvtx.thread[table.nvtx[row]];
            rows.insert(t.globalTid = trace_.threads[thread].globalTid, t.start = startNs,
                        t.end = startNs + 1, t.operation = trace_.strings.at(table.operation[row]),
                        t.datatype = trace_.strings.at(facts.datatype), t.count = facts.count,
                        t.bytes = table.bytes[row], t.communicator = table.communicator[row],
                        t.sequence = facts.sequence,
                        t.algorithm = trace_.strings.at(facts.algorithm),
                        t.protocol = trace_.strings.at(facts.protocol), t.channels = facts.channels,
                        t.warps = facts.warps,
                        t.launchGlobalTid = trace_.threads[facts.launchThread].globalTid,
                        t.launchStart = facts.launch.startNs, t.launchEnd = facts.launch.endNs);
        }
    }

    const Trace& trace_;
    Database& database_;
    FirstError error_;
};

}  // namespace

Result<void> writeTrace(const Trace& trace, const std::filesystem::path& path) {
    Result<Database> database = Database::create(path);
    if (!database) return fail(database.error());
    if (auto created = createTraceTables(*database); !created) return created;
    return Writer(trace, *database).write();
}

}  // namespace lanescope
