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

/// What a communicator is called wherever it is shown: "0x02e5d1c8a1b2c3d4". SQLite reads that as
/// the number that stands in the file.
std::string communicatorId(uint64_t hash);

/// The communicator that is called so; nothing for any other text.
std::optional<uint64_t> communicatorFrom(std::string_view id);

/// A payload of NCCL's ranges as it is shown, in which communicators are called as elsewhere:
/// `{"NCCL communicator ID":"0x02e5d1c8a1b2c3d4","Root":0}`. O(length).
std::string withCommunicatorIds(std::string_view payload);

/// Bytes that an operation counts for, by the arithmetic of nccl-tests.
struct NcclTraffic {
    double algorithmBytes = 0;  ///< The whole message: over time, the "algbw".
    double busBytes = 0;        ///< What each rank's link carries: over time, the "busbw".
};

/// The traffic of an operation for which a rank passed `bytes` to NCCL. NCCL's bytes are those of
/// one rank (and, for AlltoAll, of one peer) where nccl-tests counts all ranks' together:
/// AllGather, ReduceScatter, AlltoAll, Gather, Scatter. Nothing for unknown operations and, unless
/// the operation does not depend on it, for an unknown number of ranks (below 1).
std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes,
                                       int32_t rankCount);

/// That of row `row` of `trace.nccl` and how long the GPU took; nothing if one of both is not
/// known, or if the GPU did several operations at once.
struct NcclRate {
    NcclTraffic traffic;
    /// On the GPU, without waiting for other ranks where that is known (`NcclFacts::waitedNs`).
    int64_t durationNs = 0;
    double algorithmGBps() const { return traffic.algorithmBytes / double(durationNs); }
    double busGBps() const { return traffic.busBytes / double(durationNs); }
};
std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row);

/// How long the kernels of collectives waited on their GPU for the last rank, as far as the trace
/// tells (`NcclFacts::waitedNs`). Immutable; any thread.
class CollectiveWaits {
  public:
    /// O(n log n) in the NCCL calls.
    explicit CollectiveWaits(const Trace& trace);

    /// Of the kernel of NCCL that this process starts then; 0 if it is not known. O(log n).
    int64_t ofKernel(uint32_t process, int64_t startNs) const;
    bool isEmpty() const { return waits_.empty(); }

  private:
    struct Wait {
        uint32_t process;
        int64_t startNs;
        int64_t waitedNs;
    };
    LargeVector<Wait> waits_;  ///< By process and start.
};

/// A rank of a communicator as far as the trace tells.
struct CommunicatorRank {
    int32_t number = -1;   ///< Within the communicator; -1 if NCCL did not say.
    uint32_t process = 0;  ///< Index into `Trace::processes`.
    auto operator<=>(const CommunicatorRank&) const = default;
};

/// What one rank did of a collective.
struct CollectiveCall {
    uint64_t communicator = 0;
    int64_t number = 0;  ///< NCCL's sequence number, else which it is of its operation, from 0.
    CommunicatorRank rank;
    StringIndex operation = 0;
    uint32_t row = 0;  ///< Of `NcclTable`.
};

/// One collective as all ranks of its communicator that the trace has took part in it: a call of
/// each, by rank.
using Collective = std::span<const CollectiveCall>;

/// An operation that the ranks of a communicator did not call alike, as far as the trace tells.
struct UnmatchedOperation {
    uint64_t communicator = 0;
    StringIndex operation = 0;
    bool isNumbered = false;  ///< By NCCL, each call.
};

/// The collectives of a trace, each put together from the calls of its ranks.
class MatchedCollectives {
  public:
    /// O(n log n) in the NCCL calls. Stopped, it leaves collectives out.
    explicit MatchedCollectives(const Trace& trace, const std::stop_token& stop = {});

    /// Those of at least two ranks: by communicator, operation and number.
    size_t size() const { return ends_.size(); }
    Collective at(size_t index) const;
    const std::vector<UnmatchedOperation>& unmatched() const { return unmatched_; }
    /// How many calls of collectives are left out since their times are not their own.
    int64_t untimed() const { return untimed_; }
    bool hasCalls() const { return hasCalls_; }  ///< Of collectives, outside of captured graphs.
    bool hasSeveralRanks() const { return hasSeveralRanks_; }  ///< Some communicator has.

  private:
    class Matcher;
    LargeVector<CollectiveCall> calls_;
    LargeVector<uint32_t> ends_;  ///< Of each collective in `calls_`.
    std::vector<UnmatchedOperation> unmatched_;
    int64_t untimed_ = 0;
    bool hasCalls_ = false;
    bool hasSeveralRanks_ = false;
};

/// Whether the call, a row of `trace.nccl`, has a time of its own, and not that of its writing.
bool isTimedCall(const Trace& trace, uint32_t row);

/// A message goes from one rank to another: nobody else waits for it.
bool isCollective(std::string_view operation);

/// Whether the work of all its calls on the GPU is known.
bool isOnGpu(const Trace& trace, Collective collective);

}  // namespace lanescope
