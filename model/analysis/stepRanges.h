// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/WorkerLaunches.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The NVTX ranges of one name pattern in a process.
struct StepRanges {
    uint32_t process = 0;
    uint32_t thread = 0;         ///< That has most of them.
    std::vector<uint32_t> rows;  ///< Of `NvtxTable`, by start, not overlapping.
};

/// The name pattern that looks most like the steps of the run; empty if none does. Ranges that were
/// never closed, NCCL's own, operators and Python functions do not count.
///
/// The ranges of a pattern can be steps if there are enough in a process (`fewestStepsOf`), most of
/// them launch work for its GPUs before the next begins, no word of the name says that something is
/// compiled or tuned, and it is no collective of PyTorch's. What neither is called steps, batches
/// or requests nor holds nearly all that is launched from its first range on, has to come about
/// evenly, too, or it may be anything: most of the later half begin about as long after the one
/// before. What torch.profiler calls a step comes first. Those that go on until
/// half of all work has been launched come before those that do not. Of the
/// patterns that launch at least half as much work, by its time on the GPU, as any other, one with
/// a word for steps (step, iteration, iter, it, batch) comes before one with a word for requests
/// where nothing is trained, that before one without, and that before epochs. Then the one counts
/// that launches most, of equals the one that takes longest on the CPU, as it holds the others,
/// then the first. O(n log n) in the ranges.
std::string findStepPattern(const Trace& trace, const std::vector<WorkerLaunches>& launches);
std::string findStepPattern(const Trace& trace);

/// How many ranges of that pattern a process has to have, for them to be its steps: three, two
/// where a word of the name says that they are, and one of torch.profiler's.
size_t fewestStepsOf(std::string_view pattern);

/// The ranges called `name`, or like it if it holds a '#', of each process that has any. Ranges
/// that begin within another of them are left out, open ones too. Those of several threads count
/// together if hardly any of them overlap, as where a pool of threads takes turns; else those of
/// the thread that has most. O(n).
std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name);

/// How often each NVTX range name occurs, and each pattern that several names share. Marks do not
/// count. O(n) in the ranges and O(n log n) in the names.
std::map<std::string, int64_t> rangeCounts(const Trace& trace);

/// Names of NVTX ranges that both traces have, most frequent first: what runs can be aligned by.
/// Names that differ in numbers also stand there together, as "step #".
std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate);

/// What ranges can be chosen by: each pattern that several names share ("step #") instead of these
/// names, and every other name; most frequent first, at most `most`. As `rangeCounts`.
std::vector<std::string> rangeChoices(const Trace& trace, size_t most);

/// That there is no range called `name`, and what there is that begins so, as often the number was
/// left out, or else the steps and what there is most: a dozen names, and how many others.
tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name);

/// NVTX ranges of one name, or of names that differ in numbers only.
struct MainRanges {
    std::string name;  ///< "request #", or "load" if all are called so.
    int64_t count = 0;
    int64_t medianNs = 0, longestNs = 0;
    int64_t paceNs = 0;  ///< Median from one start to the next; 0 of one.
    TimeRange span;      ///< From the first start to the last end.
    bool operator==(const MainRanges&) const = default;
};

/// What a program without steps does again and again, such as the requests of a server: of the
/// ranges that come at least twice and of which the median is no more than half of the time that
/// they span, those that take longest together. Marks, ranges that were never closed and NCCL's own
/// do not count. Nothing if there are none. O(n log n) in the ranges and O(n) in the names.
std::optional<MainRanges> mainRanges(const Trace& trace);

/// The ranges of a name or a pattern, counted as those are. Nothing if there are none.
std::optional<MainRanges> rangesOf(const Trace& trace, std::string_view pattern);

/// From the first to the last work of any GPU; nothing without any. O(n) in it.
std::optional<TimeRange> gpuWorkSpan(const Trace& trace);

}  // namespace lanescope
