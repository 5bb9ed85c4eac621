// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"
#include "model/values/LargeMemory.h"

namespace lanescope {

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
