// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/Collectives.h"
#include "model/analysis/StepSelection.h"
#include "model/numbers/intervals.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"
#include "model/trace/collectives.h"

namespace lanescope::analysis {

/// Which API call launched each piece of GPU work, and when which thread was in a call. The lookups
/// of `Trace`, made once for all rows; O(n log n) in calls and work.
struct LaunchingCalls : LaunchRows {
    explicit LaunchingCalls(const Trace& trace);

    /// By thread: outermost calls. Labels are names.
    std::vector<Stretches> callsOf;
};

/// Which NVTX ranges are open on a thread at a moment, as paths of what people call them
/// (`knownRangeName`) with digits as '#': "forward/layer #". NCCL's own ranges and Python functions
/// are no part of them. Immutable once made; O(n log n) in the ranges.
class RangePaths {
  public:
    /// Number of a path; 0 is the empty one.
    using Id = uint32_t;

    /// Paths begin within ranges of the pattern `stepPattern`, where they are in any.
    RangePaths(const Trace& trace, std::string_view stepPattern);

    /// O(log n) in the ranges of the thread.
    Id at(uint32_t thread, int64_t timeNs) const;
    /// When which path is open on a thread, but for the empty one. Labels are ids.
    const Stretches& of(uint32_t thread) const { return stretches_[thread]; }
    /// Those of `of(thread)` that overlap `range`, not clipped. O(log n) and their number.
    Stretches during(uint32_t thread, TimeRange range) const;
    const std::string& text(Id path) const { return paths_[path].text; }
    /// Whether `inner` is `outer` or lies in it. Everything lies in the empty path.
    bool isWithin(Id inner, Id outer) const;
    /// Whether one of its ranges is named like getting data (`isDataLoadingName`).
    bool isDataLoading(Id path) const { return paths_[path].isDataLoading; }

  private:
    struct Path {
        std::string text;
        bool isDataLoading = false;
    };
    void addThread(const Trace& trace, const LargeVector<uint32_t>& rows);
    Id child(Id parent, StringIndex text, const Trace& trace);

    std::string stepPattern_;
    std::vector<Path> paths_;
    std::map<std::pair<Id, StringIndex>, Id> children_;
    std::map<std::string, Id, std::less<>> byText_;
    std::vector<Stretches> stretches_;  ///< By thread.
};

/// Whether a range or thread is named like getting the next batch: one of its words (parted by
/// anything but letters, and by a capital after a small letter) is data, dataloader, dataset,
/// loader, loading, load, fetch, prefetch or prefetcher. "data" before "parallel" does not count:
/// DistributedDataParallel computes.
bool isDataLoadingName(std::string_view name);

/// What is worked out once for all workers of a run. Immutable; refers to the trace, which must
/// outlive it.
struct RunContext {
    /// `steps` are those of the trace. O(n log n) in the events.
    RunContext(const Trace& trace, const RunSteps& steps);
    RunContext(const RunContext&) = delete;
    RunContext& operator=(const RunContext&) = delete;

    /// The path of `thread` at that moment; if it has none, that of the thread with the steps.
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
};

}  // namespace lanescope::analysis
