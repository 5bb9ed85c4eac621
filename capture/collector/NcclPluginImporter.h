// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/collector/ProcessContext.h"
#include "capture/log/Records.h"

namespace lanescope::capture {

/// An event of NCCL's profiler interface with its end; strings are ids of its log.
struct NcclInterval {
    log::NcclOperationRecord begin;
    std::optional<int64_t> endNs;  ///< nullopt if it never ended.
};

/// One operation, assembled from NCCL's events. At least one of `call` and `task` is set.
struct NcclOperation {
    std::optional<NcclInterval> call;    ///< From NCCL 2.28 on.
    std::optional<NcclInterval> task;    ///< Missing if NCCL had nothing to do, or reported nothing.
    std::optional<NcclInterval> launch;  ///< From NCCL 2.28 on; may be shared by operations.
};

/// Assembler of the events of one process. A task contains the id of its call. Its launch is the
/// latest one of its thread and communicator, unless a task of that launch has ended already. No database, no clock.
/// Its memory is bounded, even for a corrupt log.
class NcclAssembler {
  public:
    using Sink = std::function<void(const NcclOperation&)>;

    /// `sink` receives each operation as soon as it is complete.
    explicit NcclAssembler(Sink sink) : sink_(std::move(sink)) {}

    /// Adds an event. O(log n) in the open events. Events of one thread come in order.
    void add(const log::NcclOperationRecord& record);
    void add(const log::NcclStopRecord& record);
    void finish();

    static constexpr size_t maxKept = 1 << 14;

  private:
    struct Call {
        NcclInterval interval;
        bool isPassed = false;               ///< With its first task; more may follow, as from a graph.
        std::vector<NcclOperation> waiting;  ///< Tasks that ended before the call did.
    };
    struct Launch {
        NcclInterval interval;
        bool isOver = false;  ///< One of its tasks has ended; the next belongs to another.
    };
    struct Task {
        NcclInterval interval;
        std::optional<std::pair<uint32_t, uint64_t>> launch;  ///< Key of `launches_`.
    };

    std::optional<int64_t> takeEarlyStop(uint64_t id);
    void addTask(const log::NcclOperationRecord& record);
    void addLaunch(const log::NcclOperationRecord& record);
    void endTask(std::map<uint64_t, Task>::iterator open);
    void endCall(Call& call);
    void finishCall(Call& call);
    void pass(NcclOperation operation, Call& call);
    void forgetOldest();

    Sink sink_;
    std::map<uint64_t, Call> calls_;  // by id, so the oldest first
    std::map<uint64_t, Task> tasks_;
    std::map<std::pair<uint32_t, uint64_t>, Launch> launches_;  // by thread and communicator
    std::unordered_map<uint64_t, std::pair<uint32_t, uint64_t>> openLaunches_;
    std::map<uint64_t, std::vector<NcclOperation>> orphans_;  // tasks read before their call, by it
    std::map<uint64_t, int64_t> earlyStops_;                  // read before their start
};

/// Importer of the events of NCCL's profiler plugin in one process: communicators and operations. One thread.
class NcclPluginImporter {
  public:
    explicit NcclPluginImporter(ProcessContext& process);

    void add(const log::NcclCommunicatorRecord& record);
    void add(const log::NcclOperationRecord& record) { assembler_.add(record); }
    void add(const log::NcclStopRecord& record) { assembler_.add(record); }
    void finish();

    int64_t operations() const { return operations_; }

  private:
    void write(const NcclOperation& operation);

    ProcessContext& process_;
    NcclAssembler assembler_;
    std::set<std::pair<uint64_t, int32_t>> communicators_;  // hash and rank
    int64_t operations_ = 0;
    std::optional<uint32_t> interfaceVersion_;
};

/// Returns the bytes of an element by NCCL's type name ("ncclFloat32"); 0 for an unknown type.
int64_t ncclDatatypeBytes(std::string_view name);
/// Returns "float32" for "ncclFloat32", and other names unchanged.
std::string ncclDatatypeName(std::string_view name);

}  // namespace lanescope::capture
