// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/Intervals.h"
#include "model/analysis/StepSelection.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"
#include "model/trace/collectives.h"

namespace lanescope::analysis {

/// Bytes of the NCCL calls that one kernel carries out.
struct CollectiveBytes {
    int64_t bytes = 0;     ///< As this rank passed them; 0 if unknown.
    int64_t busBytes = 0;  ///< Bytes over each rank's link (`ncclTraffic`); 0 if unknown.
};

/// Assigns bytes to NCCL's kernels from the NVTX ranges that announce NCCL's calls. A kernel carries out the calls that
/// its thread began since the previous kernel. A group of calls thus belongs to the kernel that `ncclGroupEnd`
/// launches. The launching thread and time from NCCL's profiler plugin take precedence. Immutable; any thread.
class Collectives {
  public:
    /// `worldSize` is used if a communicator's own rank count is unknown. O(n log n) in NCCL's calls.
    Collectives(const Trace& trace, int64_t worldSize);

    /// Consumes the calls of each thread in order, for the kernels of one worker. Refers to the collectives.
    class Taker {
      public:
        explicit Taker(const Collectives& collectives) : collectives_(collectives) {}
        /// Must be called in the order of the launching calls of each thread. Amortised O(log threads).
        CollectiveBytes take(uint32_t thread, int64_t callStartNs);

      private:
        const Collectives& collectives_;
        std::map<uint32_t, size_t> taken_;  ///< By thread.
    };

  private:
    struct Call {
        int64_t startNs;
        CollectiveBytes amount;
    };
    std::vector<LargeVector<Call>> callsOf_;  ///< By thread, each sorted by start.
};

/// The launching API call of each piece of GPU work, and the calls of each thread over time. The
/// lookups of `Trace`, made once for all rows; O(n log n) in calls and work.
struct LaunchingCalls : LaunchRows {
    explicit LaunchingCalls(const Trace& trace);

    /// By thread: outermost calls. Labels are names.
    std::vector<Intervals> callsOf;
};

/// NVTX ranges open on a thread over time, as paths of known names (`knownRangeName`), with '#' for numbers that
/// differ: "forward/layer #". Excludes NCCL's own ranges and Python functions. Immutable; O(n log n) in the ranges.
class RangePaths {
  public:
    /// Number of a path; 0 is the empty one.
    using Id = uint32_t;

    /// A path inside a range of the pattern `stepPattern` begins in that range, else at the outermost range.
    RangePaths(const Trace& trace, std::string_view stepPattern);

    /// O(log n) in the ranges of the thread.
    Id at(uint32_t thread, int64_t timeNs) const;
    /// Returns the intervals of the paths on a thread, except the empty one. Labels are ids.
    const Intervals& of(uint32_t thread) const { return intervals_[thread]; }
    /// Returns the intervals of `of(thread)` that overlap `range`, not clipped. O(log n + their number).
    Intervals during(uint32_t thread, TimeRange range) const;
    const std::string& text(Id path) const { return paths_[path].text; }
    /// Returns the path of PyTorch modules on a row of `Trace::stacks`, for work outside of all ranges; 0 without.
    Id ofStack(uint32_t stack) const { return stack < ofStack_.size() ? ofStack_[stack] : Id{0}; }
    bool hasModules() const { return !ofStack_.empty(); }
    /// Returns true if `inner` is `outer` or is inside it. Every path is inside the empty path.
    bool isWithin(Id inner, Id outer) const;
    /// Returns true if the name of one of its ranges means data loading (`isDataLoadingName`).
    bool isDataLoading(Id path) const { return paths_[path].isDataLoading; }

  private:
    struct Path {
        std::string text;
        bool isDataLoading = false;
        Id parent = 0;
        std::string name;  ///< Of the first range.
        bool hasSeveralNames = false;
    };
    /// Replaces patterns by names where all ranges of a path have one name.
    void nameExactly();
    void addThread(const Trace& trace, uint32_t thread, std::span<const uint32_t> rows);
    Id child(Id parent, StringIndex text, const Trace& trace);
    Id childNamed(Id parent, std::string name, bool mayLoadData);
    void addModules(const Trace& trace);

    std::string stepPattern_;
    std::vector<Path> paths_;
    std::map<std::pair<Id, StringIndex>, Id> children_;
    std::map<std::string, Id, std::less<>> byText_;
    std::vector<Intervals> intervals_;  ///< By thread.
    std::vector<Id> ofStack_;
};

/// Returns true if the name of a range or thread means getting the next batch: one of its words is data, dataloader,
/// dataset, loader, loading, load, fetch, prefetch or prefetcher. Words are separated by anything but letters, and by a
/// capital after a small letter. "data" before "parallel" does not count, since DistributedDataParallel computes.
bool isDataLoadingName(std::string_view name);

/// Data computed once for all workers of a run. Immutable; refers to the trace, which must outlive it.
struct RunContext {
    /// `steps` are those of the trace. O(n log n) in the events.
    RunContext(const Trace& trace, const RunSteps& steps);
    RunContext(const RunContext&) = delete;
    RunContext& operator=(const RunContext&) = delete;

    /// Returns the path of `thread` at that time, or that of the step thread if it has none.
    RangePaths::Id pathAt(uint32_t thread, uint32_t stepThread, int64_t timeNs) const {
        const RangePaths::Id path = paths.at(thread, timeNs);
        return path != 0 ? path : paths.at(stepThread, timeNs);
    }

    const Trace& trace;
    const LaunchingCalls calls;
    const RangePaths paths;
    const CollectiveWaits waits;
    const Collectives collectives;
    const WorkRows rows;
    const StatesOfThreads states;
    const StepKind stepKind;
    const StepSource stepSource;
};

/// Looks up the paths of calls that are mostly in order on each thread. One thread.
class PathLookup {
  public:
    explicit PathLookup(const RunContext& run) : run_(run), places_(run.trace.threads.size()) {}
    /// Returns `RunContext::pathAt`. O(1) near the call before.
    RangePaths::Id pathAt(uint32_t thread, uint32_t stepThread, int64_t timeNs) {
        const RangePaths::Id path = at(thread, timeNs);
        return path != 0 ? path : at(stepThread, timeNs);
    }

  private:
    /// The longest time with one path around the last one asked for.
    struct Place {
        int64_t startNs = 0, endNs = 0;
        RangePaths::Id path = 0;
        size_t started = 0;  ///< Number of ranges that start before its end.
    };
    RangePaths::Id at(uint32_t thread, int64_t timeNs);

    const RunContext& run_;
    std::vector<Place> places_;  ///< By thread.
};

}  // namespace lanescope::analysis
