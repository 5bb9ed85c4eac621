// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "capture/collector/NvtxAssembler.h"
#include "capture/collector/PayloadDecoder.h"
#include "capture/collector/ProcessContext.h"

namespace lanescope::capture {

/// Writes the NVTX and NCCL tables from the NVTX records of one log. One thread.
class NvtxImporter {
  public:
    explicit NvtxImporter(ProcessContext& process);

    void add(const log::NvtxRecord& record, std::span<const std::byte> extended);
    void add(const log::NvtxDomainRecord& record);
    void add(const log::NvtxCategoryRecord& record);
    void add(const log::NvtxSchemaRecord& record);
    void add(const log::NvtxSchemaEntryRecord& record);
    void add(const log::NvtxEnumRecord& record);
    void add(const log::NvtxEnumEntryRecord& record);
    /// Writes the names and layouts that have come since the last time, if the process had any
    /// range: who reads the trace meanwhile is to know them.
    void writeNames();
    /// Writes ranges that are still open, and the rest of the names.
    void finish();

    int64_t ranges() const { return ranges_; }
    int64_t ncclOperations() const { return ncclOperations_; }
    const NvtxAssembler& assembler() const { return assembler_; }

  private:
    void write(const NvtxInterval& interval);
    void writeNccl(const NvtxInterval& interval, int64_t nvtxRow);

    ProcessContext& process_;
    NvtxAssembler assembler_;
    PayloadDecoder decoder_;
    /// False for a description that the log gave before: it says everything again when it goes on
    /// in another file, or when something of it was lost.
    bool isNew(log::RecordKind kind, uint32_t domain, uint64_t id, uint32_t index);

    std::set<std::tuple<log::RecordKind, uint32_t, uint64_t, uint32_t>> described_;
    std::vector<log::NvtxDomainRecord> domains_;
    std::vector<log::NvtxCategoryRecord> categories_;
    std::vector<log::NvtxSchemaRecord> schemas_;
    std::vector<log::NvtxSchemaEntryRecord> entries_;
    std::set<uint32_t> ncclDomains_;
    int64_t ranges_ = 0;
    int64_t ncclOperations_ = 0;
};

}  // namespace lanescope::capture
