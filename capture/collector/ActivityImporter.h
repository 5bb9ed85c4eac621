// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "capture/collector/GpuInventory.h"
#include "capture/collector/ImportCounts.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/Records.h"
#include "model/format/Memory.h"
#include "model/format/Table.h"
#include "model/format/TimeRange.h"

namespace lanescope::capture {

/// Converts a memory kind: CUPTI counts from 1, the file from 0.
inline MemoryKind memoryKindOfCupti(uint8_t cuptiKind) {
    return cuptiKind >= 1 && cuptiKind <= 7 ? memoryKindFrom(cuptiKind - 1) : MemoryKind::Unknown;
}

/// Importer that writes the CUDA tables from the CUDA records of one log, and translates CUPTI's
/// numbers to the file's. One thread.
class ActivityImporter {
  public:
    ActivityImporter(ProcessContext& process, GpuInventory& gpus) : process_(process), gpus_(gpus) {}

    void add(const log::KernelRecord& record);
    void add(const log::MemcpyRecord& record);
    void add(const log::MemsetRecord& record);
    void add(const log::GraphRecord& record);
    void add(const log::GraphNodeRecord& record);
    void add(const log::ApiRecord& record);
    void add(const log::SyncRecord& record);
    void add(const log::CudaEventRecord& record);
    void add(const log::OverheadRecord& record);
    void add(const log::DeviceRecord& record);
    void add(const log::ContextRecord& record);
    void add(const log::StreamRecord& record);

    const ImportCounts& counts() const { return counts_; }
    /// Returns the end of the latest CUDA activity, in the log's time; 0 before any.
    int64_t latestNs() const { return latestNs_; }
    /// Returns true if the process used CUDA: the log has a device or a context.
    bool sawDevice() const { return sawDevice_; }

  private:
    std::optional<TimeRange> times(ImportedKind kind, int64_t startNs, int64_t endNs);
    template <class Record>
    void addUntimed(const tables::Table& table, const Record& record, std::optional<int64_t> name = {});
    GpuWorkRow workOf(TimeRange times, int64_t device, const auto& record) const;
    int64_t deviceOf(uint32_t contextId) const;
    void noteContext(uint32_t contextId, uint32_t deviceId);

    ProcessContext& process_;
    GpuInventory& gpus_;
    // A log that continues in another file repeats everything that its later records refer to.
    std::set<uint32_t> devices_, contexts_;
    uint32_t latestContext_ = 0;
    std::unordered_map<uint32_t, uint32_t> deviceByContext_;
    std::set<std::pair<uint32_t, uint32_t>> streams_;    ///< Pairs of context and stream.
    std::set<std::pair<uint64_t, int64_t>> graphNodes_;  ///< With times.
    ImportCounts counts_;
    int64_t latestNs_ = 0;
    bool sawDevice_ = false;
};

/// Importer of the memory records of one log: allocations, pools, and migrations and faults of
/// managed memory. Translates CUPTI's numbers to the file's. One thread.
class MemoryImporter {
  public:
    explicit MemoryImporter(ProcessContext& process) : process_(process) {}

    void add(const log::DeviceMemoryRecord& record);
    void add(const log::MemoryPoolRecord& record);
    void add(const log::UnifiedMemoryRecord& record);

    /// Returns the counts. Migrations are not counted as memcpys, though both are in one table of the file.
    const ImportCounts& counts() const { return counts_; }
    /// Returns how often managed memory went back and forth between two processors, and how often a
    /// processor had to wait for that reason. The file has no tables for these.
    uint64_t thrashings() const { return thrashings_; }
    uint64_t throttlings() const { return throttlings_; }
    /// Returns the moves to a GPU caused by faults, and the fault records. Each move has a fault record, so without
    /// fault records some records were lost.
    uint64_t movesForFaults() const { return movesForFaults_; }
    uint64_t gpuFaults() const { return gpuFaults_; }
    uint64_t oddRecords() const { return oddRecords_; }

  private:
    std::optional<int64_t> timeOf(int64_t realtimeNs);
    void addUntimed(const tables::Table& table, const auto& record);
    void addMigration(const log::UnifiedMemoryRecord& record, MemcpyKind kind);
    void addCpuFault(const log::UnifiedMemoryRecord& record);
    void addGpuFault(const log::UnifiedMemoryRecord& record);

    ProcessContext& process_;
    ImportCounts counts_;
    uint64_t thrashings_ = 0;
    uint64_t throttlings_ = 0;
    uint64_t movesForFaults_ = 0;
    uint64_t gpuFaults_ = 0;
    uint64_t oddRecords_ = 0;
};

}  // namespace lanescope::capture
