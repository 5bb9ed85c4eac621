// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/NcclCommunicators.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_PLUGIN_OPERATIONS` says: the operations of NCCL's profiler plugin.
class NcclPlugin {
  public:
    /// Keeps what it reads in `memory`, if there is one.
    explicit NcclPlugin(LargeMemory* memory) : operations_(memory) {}

    void read(LoadContext& context, FileDirectory& directory,
              const NcclCommunicators& communicators);

    /// Adds them to the calls that NCCL announced by NVTX. A call and an operation belong together
    /// if the operation was called inside the range, on its thread; with NCCL before 2.28, which
    /// tells no calls, if the operation is the next of its thread, communicator, name and size.
    /// Where a process announced no calls at all (NCCL_NVTX_DISABLE=1), ranges are made of its
    /// operations. O(n log n).
    void join(TraceBuilder& builder);

  private:
    struct Operation {
        StringIndex name = 0;
        int64_t bytes = -1;
        uint64_t communicator = 0;
        uint32_t thread = 0;  ///< That called; of an operation without a call, that enqueued.
        TimeRange call;
        TimeRange enqueue;
        bool hasCall = false, hasEnqueue = false;
        bool isTaken = false;
        uint32_t stack = noIndex;
        NcclFacts facts;
    };

    void joinCalls(TraceBuilder& builder);
    void joinTasks(TraceBuilder& builder);
    void addRanges(TraceBuilder& builder, const std::set<uint32_t>& announcing);
    void take(Operation& operation, uint32_t row, bool isPart, TraceBuilder& builder);

    LargeVector<Operation> operations_;
    std::vector<bool> isJoined_;  ///< By row of `Trace::nccl`.
};

}  // namespace lanescope
