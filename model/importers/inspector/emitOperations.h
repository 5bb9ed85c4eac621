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

/// Calls `visit` with the operations of each rank of each communicator of each process.
void forEachRank(std::span<const InspectorOperation> operations,
                 const std::function<void(std::span<const InspectorOperation>)>& visit);

/// Sorts operations by process, communicator and rank, and assigns each a time. An operation
/// without a time ends at its writing time or earlier. Operations of one rank of a communicator do
/// not overlap, and those of one name keep the order of their numbers. O(n log n).
void placeOperations(LargeVector<InspectorOperation>& operations);

/// An NCCL operation that only NCCL Inspector recorded. Times are those of the trace.
struct LoggedOperation {
    NcclRow row;                      ///< With a launch if the builder has the call that launched its kernel.
    TimeRange call;                   ///< On the CPU.
    std::optional<TimeRange> kernel;  ///< On the GPU.
    bool isTimedByWriting = false;    ///< The time is derived from the writing time.
};

/// Emits operations of NCCL Inspector. Each becomes a range with the facts of an NCCL call, on a thread of its rank and
/// communicator, as the real thread is unknown. A recorded kernel is added to a stream of them, launched by that call.
class OperationEmitter {
  public:
    explicit OperationEmitter(TraceBuilder& builder);

    /// Emits the operations of one rank of a communicator, sorted by start, with kernels on the GPU
    /// with that index of the builder (none for `noIndex`). O(n).
    void emitOperations(int64_t globalPid, uint32_t gpu, std::span<const LoggedOperation> operations);

  private:
    struct Owner {
        uint32_t nextThread = 0xffffff;  ///< Counts down from an id that no system has used so far.
        int64_t nextStream = 1;
        uint32_t correlation = 0;  ///< The last used one.
    };
    /// Returns the kernel name by operation, algorithm, protocol and channels.
    uint32_t configOf(const NcclRow& row);

    TraceBuilder& builder_;
    StringIndex domain_, domainAtWriting_;
    std::map<int64_t, Owner> owners_;
    std::set<int64_t> threads_;  ///< Of the trace before; a reader may have invented some.
};

/// Returns notes on the precision of times: operations placed by their writing time, kernels timed
/// by the CPU, and operations with only a timed call.
std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed);

/// Adds health notes on the unreadable parts of the file and on the precision of its times.
void noteInspector(const InspectorFile& file, TraceBuilder& builder);

}  // namespace lanescope
