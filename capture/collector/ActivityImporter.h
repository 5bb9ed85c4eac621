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

/// CUPTI counts from 1 what the file counts from 0.
inline MemoryKind memoryKindOfCupti(uint8_t cuptiKind) {
    return cuptiKind >= 1 && cuptiKind <= 7 ? memoryKindFrom(cuptiKind - 1) : MemoryKind::Unknown;
}

/// Writes the CUDA tables from the CUDA records of one log, translating CUPTI's numbers to the
/// file's. One thread.
class ActivityImporter {
  public:
    ActivityImporter(ProcessContext& process, GpuInventory& gpus)
        : process_(process), gpus_(gpus) {}

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
    /// When the latest CUDA activity so far ended, in the log's time; 0 before any.
    int64_t latestNs() const { return latestNs_; }
    /// True once the process showed a device or a context: it used CUDA.
    bool sawDevice() const { return sawDevice_; }

  private:
    std::optional<TimeRange> times(ImportedKind kind, int64_t startNs, int64_t endNs);
    template <class Record>
    void addUntimed(const tables::Table& table, const Record& record,
                    std::optional<int64_t> name = {});
    int64_t deviceOf(uint32_t contextId) const;

    ProcessContext& process_;
    GpuInventory& gpus_;
    // A log says again what its later records refer to when it goes on in another file.
    std::set<uint32_t> devices_;
    std::unordered_map<uint32_t, uint32_t> deviceByContext_;
    std::set<std::pair<uint32_t, uint32_t>> streams_;  ///< Of which context.
    ImportCounts counts_;
    int64_t latestNs_ = 0;
    bool sawDevice_ = false;
};

/// Writes what one log says of memory: allocations, pools, and managed memory that moved or was
/// missed. Translates CUPTI's numbers to the file's. One thread.
class MemoryImporter {
  public:
    explicit MemoryImporter(ProcessContext& process) : process_(process) {}

    void add(const log::DeviceMemoryRecord& record);
    void add(const log::MemoryPoolRecord& record);
    void add(const log::UnifiedMemoryRecord& record);

    /// Migrations are no memcpys here, though they stand in the same table of the file.
    const ImportCounts& counts() const { return counts_; }
    /// How often managed memory went to and fro between processors that both wanted it, and how
    /// often one of them was made to wait for that reason. The file has no tables for these.
    uint64_t thrashings() const { return thrashings_; }
    uint64_t throttlings() const { return throttlings_; }
    /// Moves to a GPU because it missed the memory, and records of such misses: each move has one,
    /// so records are missing, of whatever kind, if there are none.
    uint64_t movesForFaults() const { return movesForFaults_; }
    uint64_t gpuFaults() const { return gpuFaults_; }
    /// Records of an operation or counter that CUPTI does not have.
    uint64_t oddRecords() const { return oddRecords_; }

  private:
    std::optional<int64_t> timeOf(int64_t realtimeNs);
    /// Keeps what is known of it out of the way of who computes with times.
    template <class Record>
    void addUntimed(const tables::Table& table, const Record& record);
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
