// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "model/build/TraceBuilder.h"

namespace lanescope {

/// An operation of NCCL that nobody saw but NCCL itself. Times are those of the trace.
struct SeenOperation {
    NcclRow row;     ///< With a launch if the builder has the call that launched its kernel.
    TimeRange call;  ///< On the CPU.
    std::optional<TimeRange> kernel;  ///< On the GPU.
    bool isAtWriting = false;         ///< Its time is made of when it was written down.
};

/// Gives a builder operations that NCCL Inspector saw: each as a range, which is a call of NCCL, on
/// a thread of its rank and communicator, since nobody says which thread it was; and its kernel, in
/// a stream of theirs, launched by that call, where one was seen.
class OperationGiver {
  public:
    explicit OperationGiver(TraceBuilder& builder);

    /// Gives those of one rank of a communicator of that process, by start, with kernels on that
    /// GPU (an index of the builder; none are given on `noIndex`). O(n).
    void give(int64_t globalPid, uint32_t gpu, std::span<const SeenOperation> operations);

  private:
    struct Owner {
        uint32_t nextThread = 0xffffff;  ///< Downwards, as no system counts so far.
        int64_t nextStream = 1;
        uint32_t correlation = 0;  ///< The last that is taken.
    };
    /// Names of kernels, by operation, algorithm, protocol and channels.
    uint32_t configOf(const NcclRow& row);

    TraceBuilder& builder_;
    StringIndex domain_, domainAtWriting_;
    std::map<int64_t, Owner> owners_;
    std::set<int64_t> threads_;  ///< That the trace has already; a reader may have made some up.
};

}  // namespace lanescope
