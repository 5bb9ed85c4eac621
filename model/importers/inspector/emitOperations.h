// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/importers/inspector/InspectorRecords.h"

namespace lanescope {

/// Calls `visit` for the operations of each rank of each communicator of each process.
void forEachRank(std::span<const InspectorOperation> operations,
                 const std::function<void(std::span<const InspectorOperation>)>& visit);

/// Sorts them by process, communicator and rank, and gives each a time: what says nothing of when
/// it ran is laid where it was written down, its end there at the latest and no two of a rank of a
/// communicator over each other, those of one name in the order of their numbers. O(n log n).
void placeOperations(LargeVector<InspectorOperation>& operations);

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

/// What times are worth: of operations placed where they were written down, of those whose kernels
/// the CPU timed, and of those of which it timed the call only.
std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed);

/// Says in the trace's health what could not be read of the file, and what its times are worth.
void noteInspector(const InspectorFile& file, TraceBuilder& builder);

}  // namespace lanescope
