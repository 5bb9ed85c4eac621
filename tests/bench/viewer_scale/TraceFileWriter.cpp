// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/TraceFileWriter.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Ranges.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Session.h"
#include "tests/bench/viewer_scale/TrainingSimulation.h"

namespace lanescope::bench {

namespace {

constexpr std::array<int64_t, TrainingSimulation::streamCount> streamIds{7, 13, 17, 21};
constexpr int64_t contextId = 1;
constexpr int64_t ncclDomain = 1;
constexpr int64_t communicator = 0x51a7ed;

constexpr uint32_t pidOf(int rank) { return 4'200u + static_cast<uint32_t>(rank); }

constexpr int64_t globalTidOf(int rank, int thread) {
    return globalTid(pidOf(rank), pidOf(rank) + static_cast<uint32_t>(thread) * 10);
}

/// SQL that gives a Lanescope file the form of another profiler's export.
constexpr const char* otherFormatSql =
    "DELETE FROM META_DATA_EXPORT; DROP TABLE LANESCOPE_NCCL_OPERATIONS;"
    "DROP TABLE LANESCOPE_NCCL_COMMUNICATORS; DROP TABLE LANESCOPE_NCCL_PLUGIN_OPERATIONS;"
    "DROP TABLE LANESCOPE_HEALTH; DROP TABLE LANESCOPE_PROPERTIES;"
    "DROP TABLE LANESCOPE_PROCESSES; DROP TABLE LANESCOPE_WINDOWS; DROP TABLE LANESCOPE_GAPS;"
    "DROP TABLE LANESCOPE_CLOCKS; DROP TABLE LANESCOPE_TOPOLOGY;"
    "PRAGMA application_id = 0; PRAGMA user_version = 0";

}  // namespace

class TraceFileWriter::File {
  public:
    File(Database database, FileKind kind) : database_(std::move(database)), kind_(kind) {}

    Result<void> begin(const SimulatedNames& names) {
        if (auto created = createTraceTables(database_); !created) return created;
        if (auto begun = database_.execute("BEGIN"); !begun) return begun;
        inserters_ = std::make_unique<Inserters>(database_, error_);
        writeStrings(names);
        writeMachine(names);
        return result();
    }

    Result<void> write(const StepRows& rows) {
        for (const KernelRow& row : rows.kernels) writeKernel(row);
        for (const MemcpyRow& row : rows.memcpys) writeMemcpy(row);
        for (const MemsetRow& row : rows.memsets) writeMemset(row);
        for (const ApiRow& row : rows.calls) writeCall(row);
        for (const SyncRow& row : rows.syncs) writeSync(row);
        for (const MemoryEventRow& row : rows.memoryEvents) writeMemoryEvent(row);
        for (const NvtxRow& row : rows.ranges) writeRange(row);
        return result();
    }

    Result<void> finish(int64_t endNs) {
        inserters_.reset();
        constexpr const auto& t = tables::processStates;
        Inserter states(database_, t, error_);
        for (int rank = 0; rank < TrainingSimulation::rankCount; ++rank)
            states.insert(t.globalPid = globalPid(pidOf(rank)), t.rank = rank, t.localRank = rank,
                          t.worldSize = TrainingSimulation::rankCount, t.startNs = 0, t.endNs = endNs,
                          t.endedNormally = true, t.exitStatus = 0);
        constexpr const auto& fact = tables::properties;
        Inserter(database_, fact, error_)
            .insert(fact.name = "Simulated", fact.value = "yes: written by a generator, nothing was measured on a GPU");
        if (error_) return fail(*error_);
        if (auto done = database_.execute("COMMIT"); !done) return done;
        if (kind_ == FileKind::OtherTool) return database_.execute(otherFormatSql);
        return {};
    }

  private:
    /// Inserters for the frequent kinds of rows.
    struct Inserters {
        Inserters(const Database& database, FirstError& error)
            : kernels(database, tables::kernels, error),
              memcpys(database, tables::memcpys, error),
              memsets(database, tables::memsets, error),
              calls(database, tables::apiCalls, error),
              syncs(database, tables::syncs, error),
              memoryEvents(database, tables::memoryEvents, error),
              ranges(database, tables::nvtxEvents, error),
              nccl(database, tables::ncclOperations, error) {}
        Inserter<tables::Kernels> kernels;
        Inserter<tables::Memcpys> memcpys;
        Inserter<tables::Memsets> memsets;
        Inserter<tables::ApiCalls> calls;
        Inserter<tables::Syncs> syncs;
        Inserter<tables::MemoryEvents> memoryEvents;
        Inserter<tables::NvtxEvents> ranges;
        Inserter<tables::NcclOperations> nccl;
    };

    Result<void> result() const {
        if (error_) return fail(*error_);
        return {};
    }

    void writeStrings(const SimulatedNames& names) {
        Inserter rows(database_, tables::strings, error_);
        int64_t id = 0;
        const auto insert = [&](std::string_view text) {
            rows.insert(tables::strings.id = id++, tables::strings.value = text);
        };
        insert("");
        firstKernel_ = id;
        for (const SimulatedNames::Kernel& kernel : names.kernels) {
            insert(kernel.demangled);
            insert(kernel.shortName);
        }
        firstCall_ = id;
        for (const std::string& name : names.calls) insert(name);
        firstRange_ = id;
        for (const std::string& name : names.ranges) insert(name);
        firstThread_ = id;
        for (const std::string& name : names.threads) insert(name);
        domainName_ = id;
        insert("NCCL");
    }

    void writeMachine(const SimulatedNames& names) {
        constexpr const auto& process = tables::processes;
        constexpr const auto& thread = tables::threadNames;
        constexpr const auto& gpu = tables::gpus;
        constexpr const auto& device = tables::cudaDevices;
        constexpr const auto& domain = tables::nvtxEvents;
        constexpr const auto& group = tables::ncclCommunicators;
        Inserter processes(database_, process, error_);
        Inserter threads(database_, thread, error_);
        Inserter gpus(database_, gpu, error_);
        Inserter devices(database_, device, error_);
        Inserter communicators(database_, group, error_);
        for (int rank = 0; rank < TrainingSimulation::rankCount; ++rank) {
            const auto pid = globalPid(pidOf(rank));
            processes.insert(process.globalPid = pid, process.pid = pidOf(rank), process.name = "python");
            gpus.insert(gpu.id = rank, gpu.name = "Simulated GPU", gpu.totalMemory = 150'754'820'096,
                        gpu.memoryBandwidth = 4'814'400'000'000, gpu.smCount = 132, gpu.computeMajor = 9,
                        gpu.computeMinor = 0);
            for (int seen = 0; seen < TrainingSimulation::rankCount; ++seen)
                devices.insert(device.gpuId = seen, device.cudaId = seen, device.pid = pid);
            for (size_t index = 0; index < names.threads.size(); ++index)
                threads.insert(thread.nameId = firstThread_ + static_cast<int64_t>(index), thread.priority = 10,
                               thread.globalTid = globalTidOf(rank, static_cast<int>(index)));
            communicators.insert(group.globalPid = pid, group.communicator = communicator, group.rank = rank,
                                 group.rankCount = TrainingSimulation::rankCount, group.cudaDevice = rank,
                                 group.nodeCount = 1);
            inserters_->ranges.insert(domain.start = 0, domain.textId = domainName_, domain.domainId = ncclDomain,
                                      domain.globalTid = globalTidOf(rank, 0),
                                      domain.eventType = NvtxEventType::DomainName);
            ++rangeRows_;
        }
    }

    void writeKernel(const KernelRow& row) {
        constexpr const auto& t = tables::kernels;
        const int64_t name = firstKernel_ + 2 * int64_t{row.kernel};
        inserters_->kernels.insert(t.start = row.startNs, t.end = row.endNs, t.correlationId = row.correlation,
                                   t.demangledName = name, t.shortName = name + 1, t.mangledName = name,
                                   t.gridX = row.gridX, t.deviceId = row.rank, t.globalPid = globalPid(pidOf(row.rank)),
                                   t.streamId = streamIds[row.stream], t.contextId = contextId,
                                   t.registersPerThread = 64, t.gridY = 1, t.gridZ = 1, t.blockX = 256, t.blockY = 1,
                                   t.blockZ = 1, t.staticSharedMemory = 0, t.dynamicSharedMemory = 0,
                                   t.localMemoryPerThread = 0, t.localMemoryTotal = 0, t.gridId = row.correlation);
    }

    void writeMemcpy(const MemcpyRow& row) {
        constexpr const auto& t = tables::memcpys;
        const int peer = row.kind == MemcpyKind::PtoP ? 1 - row.rank : row.rank;
        inserters_->memcpys.insert(t.start = row.startNs, t.end = row.endNs, t.correlationId = row.correlation,
                                   t.bytes = row.bytes, t.copyKind = row.kind, t.srcKind = row.source,
                                   t.dstKind = row.destination, t.deviceId = row.rank,
                                   t.globalPid = globalPid(pidOf(row.rank)), t.streamId = streamIds[row.stream],
                                   t.contextId = contextId, t.srcDeviceId = row.rank, t.dstDeviceId = peer);
    }

    void writeMemset(const MemsetRow& row) {
        constexpr const auto& t = tables::memsets;
        inserters_->memsets.insert(t.start = row.startNs, t.end = row.endNs, t.correlationId = row.correlation,
                                   t.bytes = row.bytes, t.deviceId = row.rank, t.globalPid = globalPid(pidOf(row.rank)),
                                   t.streamId = streamIds[row.stream], t.contextId = contextId, t.value = 0,
                                   t.memKind = MemoryKind::Device);
    }

    void writeCall(const ApiRow& row) {
        constexpr const auto& t = tables::apiCalls;
        inserters_->calls.insert(t.start = row.startNs, t.end = row.endNs, t.correlationId = row.correlation,
                                 t.nameId = firstCall_ + row.call, t.globalTid = globalTidOf(row.rank, row.thread),
                                 t.eventClass = row.call < 2 ? 1 : 0, t.returnValue = 0);
    }

    void writeSync(const SyncRow& row) {
        constexpr const auto& t = tables::syncs;
        inserters_->syncs.insert(t.start = row.startNs, t.end = row.endNs, t.correlationId = row.correlation,
                                 t.deviceId = row.rank, t.globalPid = globalPid(pidOf(row.rank)),
                                 t.streamId = streamIds[row.stream], t.contextId = contextId, t.syncType = 3,
                                 t.eventId = 0);
    }

    void writeMemoryEvent(const MemoryEventRow& row) {
        constexpr const auto& t = tables::memoryEvents;
        inserters_->memoryEvents.insert(t.start = row.timeNs, t.bytes = row.bytes, t.address = row.address,
                                        t.memoryOperationType = row.isFree, t.deviceId = row.rank,
                                        t.globalPid = globalPid(pidOf(row.rank)), t.contextId = contextId, t.pc = 0,
                                        t.memKind = MemoryKind::Device);
    }

    void writeRange(const NvtxRow& row) {
        ++rangeRows_;
        constexpr const auto& t = tables::nvtxEvents;
        const int64_t tid = globalTidOf(row.rank, row.thread);
        const bool isStep = row.range == 0, isNccl = !isStep && row.ncclBytes >= 0;
        std::optional<std::string> text;
        std::optional<int64_t> textId;
        if (isStep)
            text = fmt::format("step {}", row.step);
        else
            textId = firstRange_ + row.range;
        inserters_->ranges.insert(t.start = row.startNs, t.end = row.endNs, t.textId = textId, t.text = text,
                                  t.domainId = isNccl ? ncclDomain : 0, t.globalTid = tid,
                                  t.eventType = NvtxEventType::PushPop);
        if (!isNccl || kind_ != FileKind::Native) return;
        constexpr const auto& call = tables::ncclOperations;
        inserters_->nccl.insert(call.nvtxRow = rangeRows_, call.bytes = row.ncclBytes, call.communicator = communicator,
                                call.globalTid = tid, call.operation = "AllReduce");
    }

    Database database_;
    FileKind kind_;
    FirstError error_;
    std::unique_ptr<Inserters> inserters_;
    int64_t firstKernel_ = 0, firstCall_ = 0, firstRange_ = 0, firstThread_ = 0, domainName_ = 0;
    int64_t rangeRows_ = 0;  ///< Rows written to NVTX_EVENTS, whose row ids count from 1.
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

Result<void> TraceFileWriter::write(const StepRows& rows) { return file_->write(rows); }

Result<void> TraceFileWriter::finish(int64_t endNs) { return file_->finish(endNs); }

}  // namespace lanescope::bench
