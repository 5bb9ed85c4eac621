#include "tests/bench/viewer_scale/TraceFileWriter.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"
#include "tests/bench/viewer_scale/TrainingSimulation.h"

namespace lanescope {

namespace {

constexpr std::array<int64_t, TrainingSimulation::streamCount> streamIds{7, 13, 17, 21};
constexpr int64_t contextId = 1;
constexpr int64_t ncclDomain = 1;
constexpr int64_t communicator = 0x51a7ed;

constexpr uint32_t pidOf(int rank) {
    return 4'200u + static_cast<uint32_t>(rank);
}

constexpr int64_t globalTidOf(int rank, int thread) {
    return globalTid(pidOf(rank), pidOf(rank) + static_cast<uint32_t>(thread) * 10);
}

constexpr const char* insertKernel =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", correlationId, demangledName,"
    " shortName, gridX, deviceId, globalPid, streamId, contextId, mangledName,"
    " registersPerThread, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,"
    " dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1, ?4, 64, 1, 1, 256, 1, 1, 0, 0, 0, 0, ?3)";
constexpr const char* insertMemcpy =
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", correlationId, bytes, copyKind,"
    " srcKind, dstKind, deviceId, globalPid, streamId, contextId, srcDeviceId, dstDeviceId)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12)";
constexpr const char* insertMemset =
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", correlationId, bytes, deviceId,"
    " globalPid, streamId, contextId, value, memKind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 0, 2)";
constexpr const char* insertCall =
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", correlationId, nameId, globalTid,"
    " eventClass, returnValue) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)";
constexpr const char* insertSync =
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", correlationId, deviceId,"
    " globalPid, streamId, contextId, syncType, eventId) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 3, 0)";
constexpr const char* insertMemoryEvent =
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, bytes, address, memoryOperationType,"
    " deviceId, globalPid, contextId, pc, memKind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 0, 2)";
constexpr const char* insertRange =
    "INSERT INTO NVTX_EVENTS (start, \"end\", textId, text, domainId, globalTid, eventType)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 59)";
constexpr const char* insertDomain =
    "INSERT INTO NVTX_EVENTS (start, textId, domainId, globalTid, eventType)"
    " VALUES (0, ?1, ?2, ?3, 75)";
constexpr const char* insertNccl =
    "INSERT INTO LANESCOPE_NCCL_OPERATIONS (nvtxRow, bytes, communicator, globalTid, operation)"
    " VALUES (?1, ?2, ?3, ?4, 'AllReduce')";
constexpr const char* insertCommunicator =
    "INSERT INTO LANESCOPE_NCCL_COMMUNICATORS (globalPid, communicator, rank, rankCount,"
    " cudaDevice, nodeCount) VALUES (?1, ?2, ?3, ?4, ?3, 1)";
constexpr const char* insertString = "INSERT INTO StringIds (id, value) VALUES (?1, ?2)";
constexpr const char* insertProcess =
    "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, 'python')";
constexpr const char* insertProcessState =
    "INSERT INTO LANESCOPE_PROCESSES (globalPid, rank, localRank, worldSize, startNs, endNs,"
    " endedNormally, exitStatus) VALUES (?1, ?2, ?2, ?3, 0, ?4, 1, 0)";
constexpr const char* insertThreadName =
    "INSERT INTO ThreadNames (nameId, priority, globalTid) VALUES (?1, 10, ?2)";
constexpr const char* insertGpu =
    "INSERT INTO TARGET_INFO_GPU (id, name, totalMemory, memoryBandwidth, smCount, computeMajor,"
    " computeMinor) VALUES (?1, 'Simulated GPU', 150754820096, 4814400000000, 132, 9, 0)";
constexpr const char* insertDevice =
    "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid) VALUES (?1, ?1, ?2)";
constexpr const char* insertProperty =
    "INSERT INTO LANESCOPE_PROPERTIES (globalPid, name, value) VALUES (NULL, ?1, ?2)";

/// What makes a file of ours look like an export of another profiler.
constexpr const char* makeForeign =
    "DELETE FROM META_DATA_EXPORT; DROP TABLE LANESCOPE_NCCL_OPERATIONS;"
    "DROP TABLE LANESCOPE_NCCL_COMMUNICATORS; DROP TABLE LANESCOPE_NCCL_PLUGIN_OPERATIONS;"
    "DROP TABLE LANESCOPE_HEALTH; DROP TABLE LANESCOPE_PROPERTIES;"
    "DROP TABLE LANESCOPE_PROCESSES; DROP TABLE LANESCOPE_WINDOWS; DROP TABLE LANESCOPE_GAPS;"
    "DROP TABLE LANESCOPE_CLOCKS; DROP TABLE LANESCOPE_TOPOLOGY;"
    "PRAGMA application_id = 0; PRAGMA user_version = 0";

/// A prepared INSERT that remembers the first error and does nothing after it.
class Insert {
  public:
    Insert(Result<void>& result, Database& database, const char* sql) : result_(&result) {
        auto prepared = database.prepare(sql);
        if (prepared)
            statement_ = std::move(*prepared);
        else if (result)
            result = fail(prepared.error());
    }

    template <class... Values>
    void row(const Values&... values) {
        if (!*result_) return;
        int index = 0;
        (bind(++index, values), ...);
        *result_ = statement_.run();
    }

  private:
    template <class Value>
    void bind(int index, const Value& value) {
        if constexpr (std::is_same_v<Value, std::nullptr_t>)
            statement_.bindNull(index);
        else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>)
            statement_.bind(index, static_cast<int64_t>(value));
        else
            statement_.bind(index, std::string_view(value));
    }

    Result<void>* result_;
    Statement statement_;
};

}  // namespace

class TraceFileWriter::File {
  public:
    File(Database database, FileKind kind) : database_(std::move(database)), kind_(kind) {}

    Result<void> begin(const SimulatedNames& names) {
        if (auto created = createTraceTables(database_); !created) return created;
        if (auto begun = database_.execute("BEGIN"); !begun) return begun;
        writeStrings(names);
        writeMachine(names);
        return result_;
    }

    Result<void> write(const StepRows& rows) {
        if (!inserts_) inserts_ = std::make_unique<Inserts>(result_, database_);
        for (const KernelRow& row : rows.kernels) writeKernel(row);
        for (const MemcpyRow& row : rows.memcpys) writeMemcpy(row);
        for (const MemsetRow& row : rows.memsets)
            inserts_->memset.row(row.startNs, row.endNs, row.correlation, row.bytes, row.rank,
                                 globalPid(pidOf(row.rank)), streamIds[row.stream]);
        for (const ApiRow& row : rows.calls)
            inserts_->call.row(row.startNs, row.endNs, row.correlation, firstCall_ + row.call,
                               globalTidOf(row.rank, row.thread), row.call < 2 ? 1 : 0);
        for (const SyncRow& row : rows.syncs)
            inserts_->sync.row(row.startNs, row.endNs, row.correlation, row.rank,
                               globalPid(pidOf(row.rank)), streamIds[row.stream]);
        for (const MemoryEventRow& row : rows.memoryEvents)
            inserts_->memoryEvent.row(row.timeNs, row.bytes, row.address, row.isFree, row.rank,
                                      globalPid(pidOf(row.rank)));
        for (const NvtxRow& row : rows.ranges) writeRange(row);
        return result_;
    }

    Result<void> finish(int64_t endNs) {
        inserts_.reset();
        for (int rank = 0; rank < TrainingSimulation::rankCount; ++rank)
            Insert(result_, database_, insertProcessState)
                .row(globalPid(pidOf(rank)), rank, TrainingSimulation::rankCount, endNs);
        Insert property(result_, database_, insertProperty);
        property.row("Simulated", "yes: written by a generator, nothing was measured on a GPU");
        if (!result_) return result_;
        if (auto done = database_.execute("COMMIT"); !done) return done;
        if (kind_ == FileKind::Foreign) return database_.execute(makeForeign);
        return {};
    }

  private:
    /// The statements for rows of which there are many.
    struct Inserts {
        Inserts(Result<void>& result, Database& database)
            : kernel(result, database, insertKernel),
              memcpy(result, database, insertMemcpy),
              memset(result, database, insertMemset),
              call(result, database, insertCall),
              sync(result, database, insertSync),
              memoryEvent(result, database, insertMemoryEvent),
              range(result, database, insertRange),
              nccl(result, database, insertNccl) {}
        Insert kernel, memcpy, memset, call, sync, memoryEvent, range, nccl;
    };

    void writeStrings(const SimulatedNames& names) {
        Insert insert(result_, database_, insertString);
        int64_t id = 0;
        insert.row(id++, "");
        firstKernel_ = id;
        for (const SimulatedNames::Kernel& kernel : names.kernels) {
            insert.row(id++, kernel.demangled);
            insert.row(id++, kernel.shortName);
        }
        firstCall_ = id;
        for (const std::string& name : names.calls) insert.row(id++, name);
        firstRange_ = id;
        for (const std::string& name : names.ranges) insert.row(id++, name);
        firstThread_ = id;
        for (const std::string& name : names.threads) insert.row(id++, name);
        domainName_ = id;
        insert.row(id++, "NCCL");
    }

    void writeMachine(const SimulatedNames& names) {
        Insert process(result_, database_, insertProcess);
        Insert thread(result_, database_, insertThreadName);
        Insert gpu(result_, database_, insertGpu);
        Insert device(result_, database_, insertDevice);
        Insert domain(result_, database_, insertDomain);
        Insert communicators(result_, database_, insertCommunicator);
        for (int rank = 0; rank < TrainingSimulation::rankCount; ++rank) {
            process.row(globalPid(pidOf(rank)), pidOf(rank));
            gpu.row(rank);
            for (int seen = 0; seen < TrainingSimulation::rankCount; ++seen)
                device.row(seen, globalPid(pidOf(rank)));
            for (size_t index = 0; index < names.threads.size(); ++index)
                thread.row(firstThread_ + static_cast<int64_t>(index),
                           globalTidOf(rank, static_cast<int>(index)));
            communicators.row(globalPid(pidOf(rank)), communicator, rank,
                              TrainingSimulation::rankCount);
            domain.row(domainName_, ncclDomain, globalTidOf(rank, 0));
            ++rangeRows_;
        }
    }

    void writeKernel(const KernelRow& row) {
        const int64_t name = firstKernel_ + 2 * int64_t{row.kernel};
        inserts_->kernel.row(row.startNs, row.endNs, row.correlation, name, name + 1, row.gridX,
                             row.rank, globalPid(pidOf(row.rank)), streamIds[row.stream]);
    }

    void writeMemcpy(const MemcpyRow& row) {
        const int peer = row.kind == MemcpyKind::PtoP ? 1 - row.rank : row.rank;
        inserts_->memcpy.row(row.startNs, row.endNs, row.correlation, row.bytes, row.kind,
                             row.source, row.destination, row.rank, globalPid(pidOf(row.rank)),
                             streamIds[row.stream], row.rank, peer);
    }

    void writeRange(const NvtxRow& row) {
        ++rangeRows_;
        const int64_t tid = globalTidOf(row.rank, row.thread);
        if (row.range == 0) {
            const std::string text = fmt::format("step {}", row.step);
            return inserts_->range.row(row.startNs, row.endNs, nullptr, text, 0, tid);
        }
        const bool isNccl = row.ncclBytes >= 0;
        inserts_->range.row(row.startNs, row.endNs, firstRange_ + row.range, nullptr,
                            isNccl ? ncclDomain : 0, tid);
        if (isNccl && kind_ == FileKind::Ours)
            inserts_->nccl.row(rangeRows_, row.ncclBytes, communicator, tid);
    }

    Database database_;
    FileKind kind_;
    Result<void> result_;
    std::unique_ptr<Inserts> inserts_;
    int64_t firstKernel_ = 0, firstCall_ = 0, firstRange_ = 0, firstThread_ = 0, domainName_ = 0;
    int64_t rangeRows_ = 0;  ///< Written to NVTX_EVENTS, whose row ids count from 1.
};

Result<TraceFileWriter> TraceFileWriter::create(const std::filesystem::path& path, FileKind kind,
                                                const SimulatedNames& names) {
    auto database = Database::create(path);
    if (!database) return fail(database.error());
    auto file = std::make_unique<File>(std::move(*database), kind);
    if (const auto begun = file->begin(names); !begun) return fail(begun.error());
    return TraceFileWriter(std::move(file));
}

TraceFileWriter::TraceFileWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}
TraceFileWriter::TraceFileWriter(TraceFileWriter&&) noexcept = default;
TraceFileWriter::~TraceFileWriter() = default;

Result<void> TraceFileWriter::write(const StepRows& rows) {
    return file_->write(rows);
}

Result<void> TraceFileWriter::finish(int64_t endNs) {
    return file_->finish(endNs);
}

}  // namespace lanescope
