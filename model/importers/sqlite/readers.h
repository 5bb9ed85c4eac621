// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

/// The mapping from the memcpy and memory kinds of a file to ours. `ENUM_*` tables define the
/// numbers of the file. Without them, the copies themselves reveal the numbering.
class MemoryKinds {
  public:
    void read(LoadContext& context);
    MemcpyKind memcpyKind(int64_t number) const;
    MemoryKind memoryKind(int64_t number) const;

  private:
    MixedMap<int64_t, MemcpyKind> memcpyKinds_;  ///< If empty, the default numbers apply.
    MixedMap<int64_t, MemoryKind> memoryKinds_;
    bool countsFromOne_ = false;  ///< CUPTI's numbers: 0 is unknown, 1 is pageable.
};

/// The mappings that readers of events need in addition to the context.
struct FileDirectory {
    FileStrings strings;
    Identities identities;
    MemoryKinds kinds;
    std::unordered_map<int64_t, uint32_t> stacks;  ///< By id in the file.

    uint32_t stackOf(std::optional<int64_t> id) const { return id ? valueOr(stacks, *id, noIndex) : noIndex; }

    explicit FileDirectory(TraceBuilder& builder) : strings(builder), identities(builder) {}
};

struct ThreadSwitch {
    int64_t timeNs = 0;
    bool isIn = false;
    bool isPreempted = false;  ///< The core was taken away while the thread was runnable.
};

/// State samples of threads with scheduler data, by thread, in the order of the file.
using SampledStates = std::map<uint32_t, std::vector<kinds::CpuState::Row>>;
/// Times on a core, by thread and time.
using CoreTimes = std::map<uint32_t, std::vector<TimeRange>>;

/// Returns the states of a thread. Scheduler switches decide when it had a core or was preempted. Overlapping state
/// samples add the reason of waits and the source line. Outside of scheduler data, samples are used as they are. Of
/// overlapping samples the first counts. Sorts `switches` by time. O(n log n).
std::vector<kinds::CpuState::Row> exactStates(uint32_t thread, std::vector<kinds::CpuState::Row> samples,
                                              std::vector<ThreadSwitch>& switches);

// Each function adds the events of one table to the builder, in the order of the file, and counts them. O(rows).

/// Reads the Python stacks that calls and ranges refer to. Must come before these.
void readStacks(LoadContext& context, FileDirectory& directory);
void readApiCalls(LoadContext& context, FileDirectory& directory);
/// Reads state samples of threads. If the file has scheduler switches, too, returns them for `readSchedule` instead.
SampledStates readThreadStates(LoadContext& context, FileDirectory& directory);
/// Reads scheduler switches of Nsight Systems, merged with `samples`. Returns the times of threads on a core.
CoreTimes readSchedule(LoadContext& context, FileDirectory& directory, SampledStates samples);
void readSystemCalls(LoadContext& context, FileDirectory& directory);
/// Reads samples with native stacks. A sample does not extend beyond the known time of its thread on the core.
void readSamples(LoadContext& context, FileDirectory& directory, const CoreTimes& onCore);
void readKernels(LoadContext& context, FileDirectory& directory);
void readMemcpys(LoadContext& context, FileDirectory& directory);
void readMemsets(LoadContext& context, FileDirectory& directory);
void readGraphs(LoadContext& context, FileDirectory& directory);
/// Reads the capture places of CUDA graph nodes. Adds nothing to `Trace::counts`.
void readGraphNodes(LoadContext& context, FileDirectory& directory);
void readMemoryEvents(LoadContext& context, FileDirectory& directory);
void readUnifiedMemory(LoadContext& context, FileDirectory& directory);
/// Reads the number of activities without a row in their table because they have no time. Must come before all tables.
void readUntimed(LoadContext& context);
/// Reads the recording windows and losses of each process.
void readRecordedTime(LoadContext& context, FileDirectory& directory);
void readSyncs(LoadContext& context, FileDirectory& directory);
/// Reads events recorded in streams. Adds nothing to `Trace::counts`, as they have no times.
void readEventRecords(LoadContext& context, FileDirectory& directory);
/// Reads NVTX ranges and marks with their NCCL calls.
void readNvtx(LoadContext& context, FileDirectory& directory);
/// Reads calls of MPI and other libraries. Requires that NVTX ranges have their names.
void readOtherCalls(LoadContext& context, FileDirectory& directory);

/// Reads recorder and time: `producer`, `startUtcNs`.
void readDescription(LoadContext& context);
/// Reads the notes of the recorder in `LANESCOPE_HEALTH` and `DIAGNOSTIC_EVENT`.
void readWarnings(LoadContext& context);
/// Reads the connections of GPUs and the peak rates of links: `interconnect`.
void readTopology(LoadContext& context);
void readLinkPeaks(LoadContext& context);
void readRoofs(LoadContext& context);
/// Reads the range instances with link counters read at their ends, and the memory of each process on each GPU.
void readSampledRanges(LoadContext& context);
void readGpuProcesses(LoadContext& context);
void readCounters(LoadContext& context, FileDirectory& directory);
/// Adds a health note on the profiler overhead, if recorded.
void readOverhead(LoadContext& context);
/// Reads ranks and ends of processes from Lanescope's recorder.
void readProcessStates(LoadContext& context, FileDirectory& directory);
/// Reads other facts about the run, its processes and GPUs. Must come after `readProcessStates`,
/// whose ranks take precedence.
void readFacts(LoadContext& context, FileDirectory& directory);

/// The Python stacks of the rows of a table that has no column for them.
class StacksOfRows {
  public:
    explicit StacksOfRows(LargeMemory* memory) : stacks_(memory) {}

    /// Reads the table of stacks. `rowColumn` contains the rowid of the other table.
    void read(LoadContext& context, const FileDirectory& directory, const auto& table, const auto& rowColumn,
              const char* what) {
        TableReader reader(context, table, {rowColumn, table.callchainId}, what);
        while (reader.next()) {
            const std::optional<int64_t> row = reader.integer(rowColumn);
            const uint32_t stack = directory.stackOf(reader.integer(table.callchainId));
            if (!reader.skipRowIf(!row || stack == noIndex)) stacks_.push_back({*row, stack});
        }
        if (!std::ranges::is_sorted(stacks_)) std::ranges::sort(stacks_);
    }
    bool isEmpty() const { return stacks_.empty(); }
    /// Returns `noIndex` if the row has no stack. O(log n).
    uint32_t of(int64_t row) const {
        const auto found = std::lower_bound(stacks_.begin(), stacks_.end(), std::pair(row, 0u));
        return found != stacks_.end() && found->first == row ? found->second : noIndex;
    }

  private:
    LargeVector<std::pair<int64_t, uint32_t>> stacks_;
};

}  // namespace lanescope
