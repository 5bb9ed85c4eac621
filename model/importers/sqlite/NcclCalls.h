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

/// The communicators of each process from `LANESCOPE_NCCL_COMMUNICATORS`.
class NcclCommunicators {
  public:
    void read(LoadContext& context, FileStrings& strings);
    /// Adds the properties of the communicator to the facts of a call of `globalPid`.
    void describe(int64_t globalPid, uint64_t communicator, NcclFacts& facts) const;

  private:
    struct Communicator {
        int32_t rank = -1, rankCount = -1;
        StringIndex name = 0;
    };
    std::map<std::pair<int64_t, uint64_t>, Communicator> communicators_;
};

/// Returns a rank, root, peer or number of ranks, or -1 if invalid.
int32_t ncclRankFrom(int64_t value);

/// The NCCL calls among the rows of `NVTX_EVENTS`, from `LANESCOPE_NCCL_OPERATIONS`. In files
/// without it, from the names of NCCL's own NVTX ranges.
class NcclCalls {
  public:
    /// Allocates in `memory`, if set.
    explicit NcclCalls(LargeMemory* memory) : calls_(memory) {}

    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators);
    bool isListed() const { return !calls_.empty(); }
    /// Adds the NCCL facts of row `fileRow` to `range`, if the row is listed.
    void addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const;
    /// Finds calls by the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(TraceBuilder& builder);

  private:
    struct Call {
        int64_t fileRow;
        NcclRow listed;
    };
    LargeVector<Call> calls_;  ///< By row. Equal ones in the order of the file.
};

/// The operations of NCCL's profiler plugin, from `LANESCOPE_NCCL_PLUGIN_OPERATIONS`.
class NcclPlugin {
  public:
    /// Allocates in `memory`, if set.
    explicit NcclPlugin(LargeMemory* memory) : operations_(memory) {}

    void read(LoadContext& context, FileDirectory& directory, const NcclCommunicators& communicators);

    /// Adds the operations to the calls that NCCL announced by NVTX.
    /// - An operation belongs to a call if it was called inside its range, on its thread.
    /// - NCCL before 2.28 reports no calls. There, the operation is the next of its thread,
    ///   communicator, name and size.
    /// - If a process announced no calls at all (NCCL_NVTX_DISABLE=1), its operations become
    ///   ranges.
    ///
    /// O(n log n).
    void join(TraceBuilder& builder);

  private:
    struct Operation {
        StringIndex name = 0;
        int64_t bytes = -1;
        uint64_t communicator = 0;
        uint32_t thread = 0;  ///< The calling thread. Without a call: the enqueuing thread.
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
    std::vector<bool> isMatched_;  ///< By row of `Trace::nccl`.
};

}  // namespace lanescope
