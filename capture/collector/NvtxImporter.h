// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/collector/PayloadDecoder.h"
#include "capture/collector/ProcessContext.h"
#include "capture/log/Records.h"

namespace lanescope::capture {

/// A range or a mark assembled from NVTX calls of one process. Strings are ids of its log.
struct NvtxInterval {
    log::NvtxRecord begin;            ///< The call that began it: Push, Start or Mark.
    std::vector<std::byte> extended;  ///< Its extended payload, or that of the call that ended it.
    uint64_t schemaId = 0;            ///< Layout of `extended`; 0 without.
    std::optional<int64_t> endNs;     ///< nullopt for a range that never ended.
    uint32_t endThreadId = 0;         ///< Thread of the end; 0 without one.
};

/// Assembler that matches the NVTX calls of one process. Pushes and pops match per thread and domain by nesting level,
/// so a lost call spoils only one range. Starts and ends match by range id, in any order. No database, no clock.
class NvtxAssembler {
  public:
    using Sink = std::function<void(const NvtxInterval&)>;

    /// `sink` receives each interval as soon as it is known, so in order of ends.
    explicit NvtxAssembler(Sink sink) : sink_(std::move(sink)) {}

    /// Adds a call. Amortized O(1). The calls of one thread come in order.
    void add(const log::NvtxRecord& record, std::span<const std::byte> extended);
    void finish();
    /// Drops the open ranges, whose ends were not recorded.
    void forgetOpenRanges();

    /// Returns the number of ranges whose pop was lost. They end at the next call that proves their end.
    uint64_t guessedEnds() const { return guessedEnds_; }
    /// Returns the number of pops and ends of ranges whose beginning was lost. Ends count after `finish`.
    uint64_t lostBeginnings() const { return lostBeginnings_; }

  private:
    using Stack = std::vector<NvtxInterval>;
    struct EarlyEnd {
        int64_t timestampNs;
        uint32_t threadId;
    };

    Stack& stackOf(const log::NvtxRecord& record);
    void closeAbove(Stack& stack, int32_t level, const log::NvtxRecord& shownBy);
    void push(NvtxInterval interval);
    void pop(const log::NvtxRecord& record, std::span<const std::byte> extended);
    void start(NvtxInterval interval);
    void end(const log::NvtxRecord& record);

    Sink sink_;
    std::map<std::pair<uint32_t, uint32_t>, Stack> stacks_;  ///< By thread and domain.
    std::unordered_map<uint64_t, NvtxInterval> started_;
    std::unordered_map<uint64_t, EarlyEnd> earlyEnds_;  ///< Ends read before their start.
    uint64_t guessedEnds_ = 0;
    uint64_t lostBeginnings_ = 0;
};

/// Importer that writes the NVTX and NCCL tables from the NVTX records of one log. One thread.
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
    /// Writes new names and layouts, if the process had any range, for readers of the unfinished trace.
    void writeNames();
    void finish();

    void forgetOpenRanges() { assembler_.forgetOpenRanges(); }

    int64_t ranges() const { return ranges_; }
    int64_t ncclOperations() const { return ncclOperations_; }
    const NvtxAssembler& assembler() const { return assembler_; }

  private:
    void write(const NvtxInterval& interval);
    void writeNccl(const NvtxInterval& interval, int64_t nvtxRow);

    ProcessContext& process_;
    NvtxAssembler assembler_;
    PayloadDecoder decoder_;
    /// Returns false for a repeated description: the log repeats everything when it continues in
    /// another file, or after a loss.
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
