// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the display name of a communicator: "0x02e5d1c8a1b2c3d4". SQLite parses it as the stored number.
std::string communicatorId(uint64_t hash);

/// Parses a display name; returns nullopt for other text.
std::optional<uint64_t> communicatorFrom(std::string_view id);

/// Returns a payload of NCCL's ranges with communicators in their display form: `{"NCCL
/// communicator ID":"0x02e5d1c8a1b2c3d4","Root":0}`. O(length).
std::string withCommunicatorIds(std::string_view payload);

/// Bytes of an operation by the formulas of nccl-tests.
struct NcclTraffic {
    double algorithmBytes = 0;  ///< Whole message; divided by time, the "algbw".
    double busBytes = 0;        ///< Traffic on each rank's link; divided by time, the "busbw".
};

/// Returns the traffic of an operation for which a rank passed `bytes` to NCCL. For AllGather, ReduceScatter, AlltoAll,
/// Gather and Scatter NCCL counts the bytes of one rank (for AlltoAll of one peer), nccl-tests those of all ranks.
/// Returns nullopt for unknown operations, and for an unknown number of ranks (below 1) if the formula depends on it.
std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes, int32_t rankCount);

/// Traffic of row `row` of `trace.nccl` and its time on the GPU; nullopt if either is unknown, or
/// if the GPU ran several operations at once.
struct NcclRate {
    NcclTraffic traffic;
    /// On the GPU, without waiting for other ranks if that is known (`NcclFacts::waitedNs`).
    int64_t durationNs = 0;
    double algorithmGBps() const { return traffic.algorithmBytes / double(durationNs); }
    double busGBps() const { return traffic.busBytes / double(durationNs); }
};
std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row);

/// Times that kernels of collectives waited on their GPU for the last rank, if known
/// (`NcclFacts::waitedNs`). Immutable; any thread.
class CollectiveWaits {
  public:
    /// O(n log n) in the NCCL calls.
    explicit CollectiveWaits(const Trace& trace);

    /// Returns the wait of the NCCL kernel that this process starts at that time; 0 if unknown. O(log n).
    int64_t ofKernel(uint32_t process, int64_t startNs) const;
    bool isEmpty() const { return waits_.empty(); }

  private:
    struct Wait {
        uint32_t process;
        int64_t startNs;
        int64_t waitedNs;
    };
    LargeVector<Wait> waits_;  ///< Sorted by process and start.
};

struct CommunicatorRank {
    int32_t number = -1;  ///< Within the communicator; -1 if unknown.
    uint32_t process = 0;
    auto operator<=>(const CommunicatorRank&) const = default;
};

struct CollectiveCall {
    uint64_t communicator = 0;
    int64_t number = 0;  ///< NCCL's sequence number, else the position among calls of its operation, from 0.
    CommunicatorRank rank;
    StringIndex operation = 0;
    uint32_t row = 0;  ///< Row of `NcclTable`.
};

/// One collective of all ranks of its communicator in the trace: one call each, by rank.
using Collective = std::span<const CollectiveCall>;

/// Operation whose calls differ between the ranks of a communicator.
struct UnmatchedOperation {
    uint64_t communicator = 0;
    StringIndex operation = 0;
    bool isNumbered = false;  ///< True if NCCL numbered every call.
};

/// Collectives of a trace, matched from the calls of its ranks.
class MatchedCollectives {
  public:
    /// O(n log n) in the NCCL calls. If stopped, collectives are missing.
    explicit MatchedCollectives(const Trace& trace, const std::stop_token& stop = {});

    /// Collectives of at least two ranks, sorted by communicator, operation and number.
    size_t size() const { return ends_.size(); }
    Collective at(size_t index) const;
    const std::vector<UnmatchedOperation>& unmatched() const { return unmatched_; }
    /// Returns the number of calls omitted because their times are write times.
    int64_t untimed() const { return untimed_; }
    bool hasCalls() const { return hasCalls_; }  ///< Returns true if there are collectives outside of captured graphs.
    bool hasSeveralRanks() const {
        return hasSeveralRanks_;
    }  ///< Returns true if any communicator has several ranks in the trace.

  private:
    class Matcher;
    LargeVector<CollectiveCall> calls_;
    LargeVector<uint32_t> ends_;  ///< End of each collective in `calls_`.
    std::vector<UnmatchedOperation> unmatched_;
    int64_t untimed_ = 0;
    bool hasCalls_ = false;
    bool hasSeveralRanks_ = false;
};

/// Returns true if the times of the call, a row of `trace.nccl`, are its own, not those of its writing.
bool isTimedCall(const Trace& trace, uint32_t row);

/// Returns false for messages from one rank to another, for which no other rank waits.
bool isCollective(std::string_view operation);

/// Returns true if the GPU work of all its calls is known.
bool isOnGpu(const Trace& trace, Collective collective);

}  // namespace lanescope
