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

/// A range or a mark put together from NVTX calls of one process. Strings are ids of its log.
struct NvtxInterval {
    log::NvtxRecord begin;            ///< The call that began it: Push, Start or Mark.
    std::vector<std::byte> extended;  ///< Its extended payload, or that of the call that ended it.
    uint64_t schemaId = 0;            ///< Layout of `extended`; 0 without.
    std::optional<int64_t> endNs;     ///< Nothing for a range that never ended.
    uint32_t endThreadId = 0;         ///< Where it ended; 0 if it did not.
};

/// Matches the NVTX calls of one process. Pushes and pops are matched per thread and domain by
/// their nesting level, so a lost call spoils one range and no other; starts and ends by range id,
/// in whichever order they come. No database, no clock: give it records, it gives intervals.
class NvtxAssembler {
  public:
    using Sink = std::function<void(const NvtxInterval&)>;

    /// `sink` receives each interval as soon as it is known, so in order of ends.
    explicit NvtxAssembler(Sink sink) : sink_(std::move(sink)) {}

    /// Amortised O(1). The calls of one thread come in their order.
    void add(const log::NvtxRecord& record, std::span<const std::byte> extended);
    /// Gives what is still open, without an end.
    void finish();

    /// Ranges whose pop was lost, so that they end where the next call shows that they had.
    uint64_t guessedEnds() const { return guessedEnds_; }
    /// Pops and ends of ranges whose beginning was lost. Ends count after `finish`.
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
