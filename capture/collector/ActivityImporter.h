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
#include "model/format/Table.h"
#include "model/format/TimeRange.h"

namespace lanescope::capture {

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

}  // namespace lanescope::capture
