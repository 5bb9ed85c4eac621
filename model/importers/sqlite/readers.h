// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/format/Memory.h"
#include "model/importers/sqlite/FileStrings.h"
#include "model/importers/sqlite/Identities.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readThreadStates.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// Turns the numbers a file uses for memcpy and memory kinds into ours. Files say what their
/// numbers mean in `ENUM_*` tables; where they do not, the copies themselves show whose numbers
/// they are.
class MemoryKinds {
  public:
    void read(LoadContext& context);
    MemcpyKind memcpyKind(int64_t number) const;
    MemoryKind memoryKind(int64_t number) const;

  private:
    MixedMap<int64_t, MemcpyKind> memcpyKinds_;  ///< Empty: the usual numbers.
    MixedMap<int64_t, MemoryKind> memoryKinds_;
    bool countsFromOne_ = false;  ///< CUPTI's own numbers: 0 is unknown, 1 is pageable.
};

/// What the readers of events need besides the context.
struct FileDirectory {
    FileStrings strings;
    Identities identities;
    MemoryKinds kinds;
    std::unordered_map<int64_t, uint32_t> stacks;  ///< As the builder gave them out, by their id.

    /// The stack of that id; `noIndex` if there is none.
    uint32_t stackOf(std::optional<int64_t> id) const {
        const auto found = id ? stacks.find(*id) : stacks.end();
        return found == stacks.end() ? noIndex : found->second;
    }

    explicit FileDirectory(TraceBuilder& builder) : strings(builder), identities(builder) {}
    /// The Python stack of that number; `noIndex` if there is none.
    uint32_t stack(std::optional<int64_t> id) const {
        const auto found = id ? stacks.find(*id) : stacks.end();
        return found == stacks.end() ? noIndex : found->second;
    }
};

// Each gives the builder the events of one table of the file, in the order of the file, and counts
// them. Linear in the rows.

/// The Python stacks that calls and ranges name; before these.
void readStacks(LoadContext& context, FileDirectory& directory);
void readApiCalls(LoadContext& context, FileDirectory& directory);
/// What threads did, as our recorder saw it. Where the file has switches of the scheduler, too, it
/// is given back for `readSchedule` instead.
LooksOfThreads readThreadStates(LoadContext& context, FileDirectory& directory);
/// The same as Nsight Systems has it: switches of the scheduler, calls of the libraries of the
/// operating system, and samples with their native stacks. Tells when threads had a core.
CoreTimes readSchedule(LoadContext& context, FileDirectory& directory, LooksOfThreads looks);
void readSystemCalls(LoadContext& context, FileDirectory& directory);
/// A sample stands no longer than its thread had the core, where that is known.
void readSamples(LoadContext& context, FileDirectory& directory, const CoreTimes& onCore);
void readKernels(LoadContext& context, FileDirectory& directory);
void readMemcpys(LoadContext& context, FileDirectory& directory);
void readMemsets(LoadContext& context, FileDirectory& directory);
void readGraphs(LoadContext& context, FileDirectory& directory);
/// Where the nodes of CUDA graphs were captured; adds nothing to `Trace::counts`.
void readGraphNodes(LoadContext& context, FileDirectory& directory);
void readMemoryEvents(LoadContext& context, FileDirectory& directory);
/// Pages of managed memory that were not where they were needed.
void readUnifiedMemory(LoadContext& context, FileDirectory& directory);
/// How many activities have no row in their table since they have no time; before all tables.
void readUntimed(LoadContext& context);
/// When each process recorded, and where it lost something.
void readRecordedTime(LoadContext& context, FileDirectory& directory);
void readSyncs(LoadContext& context, FileDirectory& directory);
/// Events recorded in streams; adds nothing to `Trace::counts`, as they have no times.
void readEventRecords(LoadContext& context, FileDirectory& directory);
/// NVTX ranges and marks, and with them the NCCL calls.
void readNvtx(LoadContext& context, FileDirectory& directory);
/// Calls of MPI and other libraries, once the ranges of NVTX have their names.
void readOtherCalls(LoadContext& context, FileDirectory& directory);

/// Who recorded the trace, and when: `producer`, `startUtcNs`.
void readDescription(LoadContext& context);
/// What the recording side noted in `LANESCOPE_HEALTH` and `DIAGNOSTIC_EVENT`.
void readHealth(LoadContext& context);
/// How the GPUs of the machine are joined, and how fast their links can be: `interconnect`.
void readTopology(LoadContext& context);
void readLinkPeaks(LoadContext& context);
/// Which instances of NVTX ranges had the counters of links read at their ends, and which process
/// held memory of which GPU.
void readSampledRanges(LoadContext& context);
void readGpuProcesses(LoadContext& context);
/// What was sampled: of GPUs, of the host, of processes.
void readCounters(LoadContext& context, FileDirectory& directory);
/// A health note on the time that the profiler took from the program, if it says so.
void readOverhead(LoadContext& context);
/// Ranks and ends of processes, as our own recorder noted them.
void readProcessStates(LoadContext& context, FileDirectory& directory);
/// What the file says of the run, its processes and its GPUs beside that; after
/// `readProcessStates`, whose columns are the truth about ranks.
void readFacts(LoadContext& context, FileDirectory& directory);

/// Which row of a table has which Python stack, where the table itself has no column for it.
class StacksOfRows {
  public:
    explicit StacksOfRows(LargeMemory* memory) : stacks_(memory) {}

    /// Reads the table that says it: `row` is the column with the rowid of the other table.
    template <class Table, class RowColumn>
    void read(LoadContext& context, const FileDirectory& directory, const Table& table,
              const RowColumn& rowColumn, const char* what) {
        TableReader reader(context, table, {rowColumn, table.callchainId}, what);
        while (reader.next()) {
            const std::optional<int64_t> row = reader.integer(rowColumn);
            const uint32_t stack = directory.stackOf(reader.integer(table.callchainId));
            if (row && stack != noIndex)
                stacks_.push_back({*row, stack});
            else
                reader.skipRow();
        }
        if (!std::is_sorted(stacks_.begin(), stacks_.end()))
            std::sort(stacks_.begin(), stacks_.end());
    }
    bool isEmpty() const { return stacks_.empty(); }
    /// `noIndex` if it has none. O(log n).
    uint32_t of(int64_t row) const {
        const auto found = std::lower_bound(stacks_.begin(), stacks_.end(), std::pair(row, 0u));
        return found != stacks_.end() && found->first == row ? found->second : noIndex;
    }

  private:
    LargeVector<std::pair<int64_t, uint32_t>> stacks_;
};

}  // namespace lanescope
