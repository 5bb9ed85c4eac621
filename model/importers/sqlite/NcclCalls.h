// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/importers/sqlite/FileStrings.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/readers.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_COMMUNICATORS` says about the communicators of each process.
class NcclCommunicators {
  public:
    void read(LoadContext& context, FileStrings& strings);
    /// Adds what is known of the communicator to the facts of a call of `globalPid`.
    void describe(int64_t globalPid, uint64_t communicator, NcclFacts& facts) const;

  private:
    struct Communicator {
        int32_t rank = -1, rankCount = -1;
        StringIndex name = 0;
    };
    std::map<std::pair<int64_t, uint64_t>, Communicator> communicators_;
};

/// A rank, root, peer or number of ranks; -1 for what none can be.
int32_t ncclRankFrom(int64_t value);

/// What `LANESCOPE_NCCL_OPERATIONS` says about rows of `NVTX_EVENTS`; in files without it, what the
/// names of NCCL's own NVTX ranges tell.
class NcclCalls {
  public:
    /// Keeps what it reads in `memory`, if there is one.
    explicit NcclCalls(LargeMemory* memory) : calls_(memory) {}

    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators);
    bool isListed() const { return !calls_.empty(); }
    /// Says that `range` is a call of NCCL if row `fileRow` of the file is listed.
    void addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const;
    /// Finds the calls by the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(TraceBuilder& builder);

  private:
    struct Call {
        int64_t fileRow;
        NcclRow says;
    };
    LargeVector<Call> calls_;  ///< By row, of equal ones as they were read.
};

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
