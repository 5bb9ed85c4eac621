// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/analysis/WorkerLaunches.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the name with each number as one '#': "step 12" gives "step #". Programs number their steps, so the steps of
/// a run have this in common. Digits before a letter belong to a word: "conv2d" and "c10d" stay.
std::string rangePattern(std::string_view name);

/// Returns the words of a name in lower case, also those by capitals: "ProfilerStep#12" gives "profiler" and "step".
std::vector<std::string> wordsOf(std::string_view name);

/// Returns true if one of the words of a name is one of `words`. O(n).
bool hasWord(std::string_view name, std::span<const std::string_view> words);

/// Returns true if a name has a word for evaluations or checks. Some of these words also name forward passes of a
/// training, and count only without gradients. O(n).
bool namesEvaluation(std::string_view name, bool isWithoutGradients);

/// Returns the numbers that names of one pattern carry: those at the only place where they differ, if they ascend from
/// name to name; of a single name its only number. Nullopt if there is no such place. O(length).
std::optional<std::vector<int64_t>> ownNumbers(std::span<const std::string_view> names);

/// Groups names of ranges that differ only in numbers, without additions of compilers and
/// frameworks (`knownRangeName`). Refers to the trace. One thread.
class RangeFamilies {
  public:
    explicit RangeFamilies(const Trace& trace) : trace_(trace) {}

    /// Returns the family of a name and counts the name. O(1) except for the first of each name.
    uint32_t of(StringIndex text);
    /// Counts the names of all ranges, so that later results cover the whole trace. O(ranges).
    void addAll();
    /// Returns "step #", or the name of a family with one name.
    std::string nameOf(uint32_t family) const;
    size_t sizeOf(uint32_t family) const { return families_[family].texts.size(); }
    /// Returns a search text that finds all of them: the longest part of their names without a number.
    std::string searchFor(uint32_t family) const;

  private:
    struct Family {
        std::string pattern;
        std::set<std::string> names;  ///< Their known names; at most two, to distinguish one from more.
        std::set<StringIndex> texts;
    };

    const Trace& trace_;
    std::unordered_map<StringIndex, uint32_t> ofText_;
    std::unordered_map<std::string, uint32_t> byPattern_;
    std::vector<Family> families_;
};

/// The NVTX ranges of one name pattern in a process.
struct StepRanges {
    uint32_t process = 0;
    uint32_t thread = 0;         ///< The thread with most of them.
    std::vector<uint32_t> rows;  ///< Rows of `NvtxTable`, by start, not overlapping.
};

/// An interval of a thread that may be a step.
struct StepMark {
    TimeRange range;  ///< Time on the CPU.
    std::string name;
    bool isInterrupted = false;  ///< Something longer that is no part of a step follows.
};

/// Intervals of a process that may be its steps, ordered by start; they do not overlap.
struct StepMarks {
    uint32_t process = 0;
    uint32_t thread = 0;
    std::vector<StepMark> marks;
};

/// Returns the ranges as marks. O(ranges).
StepMarks marksOf(const Trace& trace, const StepRanges& ranges);

/// Meaning of the name of ranges, in ascending order of evidence for steps.
enum class StepNaming : uint8_t {
    CompiledProgram,  ///< Executions of a compiled program.
    Epochs,
    Nothing,
    Requests,
    Steps,
    Announced,  ///< Made by a framework to mark steps: "ProfilerStep#12".
};
StepNaming stepNamingOf(std::string_view pattern);

/// A name pattern whose ranges can be steps.
struct StepCandidate {
    std::string name;  ///< "step #".
    StepNaming naming = StepNaming::Nothing;
    size_t count = 0;  ///< Ranges of the process with most.
};

/// Returns the name patterns that can be steps, the most similar first (`findStepPattern`), at most eight.
std::vector<StepCandidate> findStepPatterns(const Trace& trace, const std::vector<WorkerLaunches>& launches);

/// Returns the name pattern most similar to the steps of the run; empty if there is none. Unclosed ranges, NCCL's own,
/// operators and Python functions do not count. O(n log n) in the ranges.
///
/// The ranges of a pattern can be steps if:
/// - there are enough in a process (`minStepsOf`);
/// - most of them launch work for its GPUs before the next begins;
/// - no word of the name means compiling or tuning;
/// - no library made them (`rangeAuthor`); executions of a compiled program count if they launch nearly all work;
/// - they come evenly: most of the later half begin about as long after the one before. This is not required if they
///   are called steps, batches or requests, or if they contain nearly all launches from their first on.
///
/// Steps of torch.profiler come first. Patterns that go on until half of all work has been launched come before those
/// that do not. Then only patterns count that launch at least half as much work, by its time on the GPU, as any other.
/// Among them the order is: names with a word for steps (step, iteration, iter, it, batch); with a word for requests,
/// if nothing is trained; without such a word; epochs. Then the pattern with the most launched work wins, then the one
/// that takes longest on the CPU, as it contains the others, then the first.
std::string findStepPattern(const Trace& trace);

/// Returns the minimum number of ranges of that pattern in a process for them to be its steps:
/// three, two if a word of the name means steps, and one for torch.profiler's.
size_t minStepsOf(std::string_view pattern);

/// Returns the ranges called `name`, or matching it if it contains a '#', of each process that has any. Ranges that
/// begin within another of them are omitted, also open ones. Ranges of several threads count together if hardly any of
/// them overlap, as in a thread pool; else those of the thread with most. O(n).
std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name);

/// Counts each NVTX range name, and each pattern of several names, without marks. O(ranges), O(n log n) in the names.
std::map<std::string, int64_t> rangeCounts(const Trace& trace);

/// Returns NVTX range names of both traces to align by, most frequent first; also patterns, as "step #".
std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate);

/// Returns the choices of ranges: each pattern shared by several names ("step #") instead of these
/// names, and every other name; most frequent first, at most `most`. Counts as `rangeCounts`.
std::vector<std::string> rangeChoices(const Trace& trace, size_t most);

/// Returns the error that there is no range called `name`, with names that begin so, since the number is often omitted,
/// or else the steps and the most frequent ranges: a dozen names, and the number of others.
tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name);

/// NVTX ranges of one name, or of names that differ only in numbers.
struct MainRanges {
    std::string name;  ///< "request #", or "load" if all have that name.
    int64_t count = 0;
    int64_t medianNs = 0, longestNs = 0;
    int64_t paceNs = 0;  ///< Median from one start to the next in a process; 0 for single ranges.
    TimeRange span;      ///< From the first start to the last end.
    bool operator==(const MainRanges&) const = default;
};

/// Returns the repeated ranges of a program without steps, such as the requests of a server, or nullopt. Candidates
/// occur at least twice, and their median is at most half of the time that they span. The one with the largest total
/// duration wins. Marks, unclosed ranges and NCCL's own do not count. O(n log n) in the ranges and O(n) in the names.
std::optional<MainRanges> mainRanges(const Trace& trace);

/// Returns the ranges of a name or a pattern, counted in the same way, or nullopt.
std::optional<MainRanges> rangesOf(const Trace& trace, std::string_view pattern);

/// Returns the range from the first to the last work of any GPU; nullopt without any. O(n) in it.
std::optional<TimeRange> gpuWorkSpan(const Trace& trace);

}  // namespace lanescope
