// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "capture/collector/ImportCounts.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/Records.h"
#include "model/format/Memory.h"
#include "model/format/Table.h"

namespace lanescope::capture {

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
