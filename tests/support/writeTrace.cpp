#include "tests/support/writeTrace.h"

#include <map>
#include <string>

#include "model/format/GlobalId.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

class Writer {
  public:
    Writer(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

    Result<void> write() {
        using Step = void (Writer::*)();
        run("BEGIN");
        for (const Step step :
             {&Writer::strings, &Writer::machine, &Writer::kernels, &Writer::memcpys,
              &Writer::migrations, &Writer::memsets, &Writer::graphs, &Writer::memoryEvents,
              &Writer::pageFaults, &Writer::recordedTime, &Writer::apiCalls, &Writer::syncs,
              &Writer::nvtx, &Writer::nccl})
            (this->*step)();
        run("COMMIT");
        return result_;
    }

  private:
    void run(const char* sql) {
        if (result_) result_ = database_.execute(sql);
    }

    /// Inserts one row per call of `row` with its values.
    class Insert {
      public:
        Insert(Writer& writer, const char* sql) : writer_(writer) {
            auto statement = writer.database_.prepare(sql);
            if (statement)
                statement_ = std::move(*statement);
            else
                writer.result_ = fail(statement.error());
        }
        template <class... Values>
        void row(const Values&... values) {
            if (!writer_.result_) return;
            int index = 1;
            (bind(index++, values), ...);
            writer_.result_ = statement_->run();
        }

      private:
        template <class Value>
        void bind(int index, const Value& value) {
            if constexpr (std::is_same_v<Value, std::nullopt_t>)
                statement_->bindNull(index);
            else if constexpr (std::is_integral_v<Value>)
                statement_->bind(index, static_cast<int64_t>(value));
            else
                statement_->bind(index, value);
        }
        Writer& writer_;
        std::optional<Statement> statement_;
    };

    void strings() {
        Insert insert(*this, "INSERT INTO StringIds (id, value) VALUES (?1, ?2)");
        for (StringIndex id = 0; id < trace_.strings.size(); ++id)
            insert.row(id, trace_.strings.at(id));
    }

    void machine() {
        Insert processes(*this, "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, ?3)");
        Insert states(*this,
                      "INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, endedNormally)"
                      " VALUES (?1, ?2, ?3)");
        for (const Process& process : trace_.processes) {
            processes.row(process.globalPid, process.pid, process.name);
            const std::optional<int64_t> rank =
                process.rank ? std::optional<int64_t>(*process.rank) : std::nullopt;
            states.row(process.globalPid, rank, process.endedAbnormally ? 0 : 1);
        }
        Insert names(*this,
                     "INSERT INTO ThreadNames (nameId, priority, globalTid)"
                     " VALUES (?1, 10, ?2)");
        Insert texts(*this, "INSERT INTO StringIds (id, value) VALUES (?1, ?2)");
        int64_t id = trace_.strings.size();
        for (const Thread& thread : trace_.threads) {
            texts.row(id, thread.name);
            names.row(id++, thread.globalTid);
        }
        Insert gpus(*this,
                    "INSERT INTO TARGET_INFO_GPU (id, name, totalMemory, memoryBandwidth, smCount)"
                    " VALUES (?1, ?2, ?3, ?4, ?5)");
        for (const Gpu& gpu : trace_.gpus)
            gpus.row(gpu.id, gpu.name, gpu.memoryBytes, gpu.memoryBandwidthBytesPerSecond,
                     gpu.smCount);
        Insert nulls(*this,
                     "INSERT INTO TARGET_INFO_CUDA_NULL_STREAM"
                     " (streamId, processId, deviceId, contextId) VALUES (?1, ?2, ?3, ?4)");
        for (const Stream& stream : trace_.streams)
            if (stream.isNullStream)
                nulls.row(stream.streamId, trace_.processes[stream.process].pid,
                          trace_.gpus[stream.gpu].id, stream.contextId);
    }

    void kernels() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", globalPid,"
                      " deviceId, contextId, streamId, correlationId, demangledName, shortName,"
                      " mangledName, registersPerThread, gridX, gridY, gridZ, blockX, blockY,"
                      " blockZ, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread,"
                      " localMemoryTotal, gridId) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
                      " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, 0, 0, 0)");
        const KernelTable& table = trace_.kernels;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const LaunchConfig& config = trace_.launchConfigs[table.config[row]];
            const Stream& stream = trace_.streams[table.stream[row]];
            insert.row(table.startNs[row], table.endNs[row],
                       trace_.processes[stream.process].globalPid, trace_.gpus[stream.gpu].id,
                       stream.contextId, stream.streamId, table.correlation[row],
                       config.demangledName, config.shortName, config.mangledName,
                       config.registersPerThread, config.grid[0], config.grid[1], config.grid[2],
                       config.block[0], config.block[1], config.block[2], config.staticSharedBytes,
                       config.dynamicSharedBytes);
        }
    }

    void memcpys() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", globalPid,"
                      " deviceId, contextId, streamId, correlationId, bytes, copyKind, srcKind,"
                      " dstKind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
        const MemcpyTable& table = trace_.memcpys;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Stream& stream = trace_.streams[table.stream[row]];
            insert.row(table.startNs[row], table.endNs[row],
                       trace_.processes[stream.process].globalPid, trace_.gpus[stream.gpu].id,
                       stream.contextId, stream.streamId, table.correlation[row], table.bytes[row],
                       static_cast<int>(table.kind[row]), static_cast<int>(table.sourceMemory[row]),
                       static_cast<int>(table.destinationMemory[row]));
        }
    }

    void memsets() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", globalPid,"
                      " deviceId, contextId, streamId, correlationId, bytes, value, memKind)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
        const MemsetTable& table = trace_.memsets;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Stream& stream = trace_.streams[table.stream[row]];
            insert.row(table.startNs[row], table.endNs[row],
                       trace_.processes[stream.process].globalPid, trace_.gpus[stream.gpu].id,
                       stream.contextId, stream.streamId, table.correlation[row], table.bytes[row],
                       table.value[row], static_cast<int>(table.memory[row]));
        }
    }

    void migrations() {
        Insert update(*this,
                      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET virtualAddress = ?2,"
                      " migrationCause = ?3 WHERE rowid = ?1");
        const MigrationTable& table = trace_.migrations;
        for (uint32_t row = 0; row < table.size(); ++row)
            update.row(table.memcpy[row] + 1, table.address[row],
                       static_cast<int>(table.cause[row]));
    }

    void graphs() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", deviceId,"
                      " contextId, streamId, correlationId, globalPid, graphId, graphExecId)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)");
        const GraphTable& table = trace_.graphs;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Stream& stream = trace_.streams[table.stream[row]];
            insert.row(table.startNs[row], table.endNs[row], trace_.gpus[stream.gpu].id,
                       stream.contextId, stream.streamId, table.correlation[row],
                       trace_.processes[stream.process].globalPid, table.graph[row]);
        }
    }

    void memoryEvents() {
        Insert insert(*this,
                      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId,"
                      " contextId, address, pc, bytes, memKind, memoryOperationType)"
                      " VALUES (?1, ?2, ?3, 1, ?4, 0, ?5, ?6, ?7)");
        const MemoryEventTable& table = trace_.memoryEvents;
        for (uint32_t row = 0; row < table.size(); ++row)
            insert.row(table.timeNs[row], trace_.processes[table.process[row]].globalPid,
                       trace_.gpus[table.gpu[row]].id, table.address[row], table.bytes[row],
                       static_cast<int>(table.kind[row]), table.isFree[row]);
    }

    void pageFaults() {
        Insert ofCpu(*this,
                     "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address,"
                     " CpuInstruction) VALUES (?1, ?2, ?3, ?4)");
        Insert ofGpu(*this,
                     "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, \"end\", globalPid,"
                     " deviceId, address, numberOfPageFaults, faultAccessType)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
        const PageFaultTable& table = trace_.pageFaults;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const int64_t process = trace_.processes[table.process[row]].globalPid;
            if (table.gpu[row] == noIndex)
                ofCpu.row(table.startNs[row], process, table.address[row], table.instruction[row]);
            else
                ofGpu.row(table.startNs[row], table.endNs[row], process,
                          trace_.gpus[table.gpu[row]].id, table.address[row], table.count[row],
                          static_cast<int>(table.access[row]));
        }
    }

    void recordedTime() {
        Insert windows(*this,
                       "INSERT INTO LANESCOPE_WINDOWS (globalPid, \"index\", startNs, endNs)"
                       " VALUES (?1, ?2, ?3, ?4)");
        Insert gaps(*this,
                    "INSERT INTO LANESCOPE_GAPS (globalPid, what, startNs, endNs, count)"
                    " VALUES (?1, ?2, ?3, ?4, ?5)");
        for (const Process& process : trace_.processes) {
            for (size_t index = 0; index < process.windows.size(); ++index)
                windows.row(process.globalPid, index, process.windows[index].startNs,
                            process.windows[index].endNs);
            for (const Gap& gap : process.gaps)
                gaps.row(process.globalPid, static_cast<int>(gap.what), gap.range.startNs,
                         gap.range.endNs, gap.count);
        }
    }

    void apiCalls() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", eventClass,"
                      " globalTid, correlationId, nameId, returnValue)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
        const ApiTable& table = trace_.apiCalls;
        for (uint32_t row = 0; row < table.size(); ++row)
            insert.row(table.startNs[row], table.endNs[row], table.isDriver[row],
                       trace_.threads[table.thread[row]].globalTid, table.correlation[row],
                       table.name[row], table.returnValue[row]);
    }

    void syncs() {
        Insert insert(*this,
                      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\","
                      " deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)");
        const SyncTable& table = trace_.syncs;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Stream& stream = trace_.streams[table.stream[row]];
            insert.row(table.startNs[row], table.endNs[row], trace_.gpus[stream.gpu].id,
                       stream.contextId, stream.streamId, table.correlation[row],
                       trace_.processes[table.process[row]].globalPid,
                       static_cast<int>(table.type[row]));
        }
    }

    void nvtx() {
        // Each process registers its domains under numbers of its own, in rows after the ranges.
        Insert insert(*this,
                      "INSERT INTO NVTX_EVENTS (rowid, start, \"end\", eventType, textId,"
                      " globalTid, domainId) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
        const NvtxTable& table = trace_.nvtx;
        std::map<std::pair<uint32_t, StringIndex>, int64_t> domains;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const Thread& thread = trace_.threads[table.thread[row]];
            int64_t domain = 0;
            if (table.domain[row] != 0) {
                const auto [found, isNew] = domains.try_emplace(
                    {thread.process, table.domain[row]}, static_cast<int64_t>(domains.size()) + 1);
                domain = found->second;
                if (isNew)
                    insert.row(table.size() + domain, 0, std::nullopt, 75, table.domain[row],
                               thread.globalTid, domain);
            }
            const int type = table.style[row] == NvtxStyle::PushPop    ? 59
                             : table.style[row] == NvtxStyle::StartEnd ? 60
                                                                       : 34;
            if (table.isOpen[row] != 0 || table.style[row] == NvtxStyle::Mark)
                insert.row(row + 1, table.startNs[row], std::nullopt, type, table.text[row],
                           thread.globalTid, domain);
            else
                insert.row(row + 1, table.startNs[row], table.endNs[row], type, table.text[row],
                           thread.globalTid, domain);
        }
    }

    void nccl() {
        Insert insert(*this,
                      "INSERT INTO LANESCOPE_NCCL_OPERATIONS (nvtxRow, operation, bytes,"
                      " communicator) VALUES (?1, ?2, ?3, ?4)");
        const NcclTable& table = trace_.nccl;
        for (uint32_t row = 0; row < table.size(); ++row)
            insert.row(table.nvtx[row] + 1, trace_.strings.at(table.operation[row]),
                       table.bytes[row], table.communicator[row]);
        plugin();
    }

    /// What NCCL's plugin told, of calls whose facts say so.
    void plugin() {
        Insert insert(*this,
                      "INSERT INTO LANESCOPE_NCCL_PLUGIN_OPERATIONS (globalTid, start, \"end\","
                      " operation, datatype, count, bytes, communicator, sequence, algorithm,"
                      " protocol, channels, warps, launchGlobalTid, launchStart, launchEnd)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
                      " ?16)");
        const NcclTable& table = trace_.nccl;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const NcclFacts& facts = table.facts[row];
            if (facts.datatype == 0) continue;
            const uint32_t nvtx = table.nvtx[row];
            const int64_t globalTid = trace_.threads[trace_.nvtx.thread[nvtx]].globalTid;
            insert.row(globalTid, trace_.nvtx.startNs[nvtx], trace_.nvtx.startNs[nvtx] + 1,
                       trace_.strings.at(table.operation[row]), trace_.strings.at(facts.datatype),
                       facts.count, table.bytes[row], table.communicator[row], facts.sequence,
                       trace_.strings.at(facts.algorithm), trace_.strings.at(facts.protocol),
                       facts.channels, facts.warps, trace_.threads[facts.launchThread].globalTid,
                       facts.launch.startNs, facts.launch.endNs);
        }
    }

    const Trace& trace_;
    Database& database_;
    Result<void> result_;
};

}  // namespace

Result<void> writeTrace(const Trace& trace, const std::filesystem::path& path) {
    Result<Database> database = Database::create(path);
    if (!database) return fail(database.error());
    if (auto created = createTraceTables(*database); !created) return created;
    return Writer(trace, *database).write();
}

}  // namespace lanescope
