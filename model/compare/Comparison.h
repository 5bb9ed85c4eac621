#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/summary/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// The run that is compared against. A type of its own, so the sides cannot be swapped by accident.
struct Baseline {
    const Trace& trace;
    TimeRange range;  ///< What of it is compared.
};

/// The run that is asked about: "why is it slower?"
struct Candidate {
    const Trace& trace;
    TimeRange range;
};

enum class DifferenceGroup : uint8_t { Kernel, Memcpy, Memset, NvtxRange, ApiCall };

/// Name of a group for screens and files: "kernel", "memcpy", "NVTX range".
std::string_view name(DifferenceGroup group);

/// One side of a difference: summed over all events of one name.
struct SideTotal {
    int64_t count = 0;
    int64_t timeNs = 0;
    int64_t bytes = 0;  ///< Memcpys and memsets only.
};

struct Difference {
    DifferenceGroup group = DifferenceGroup::Kernel;
    std::string name;
    SideTotal baseline;
    SideTotal candidate;
    /// Positive: the candidate lost this much time.
    int64_t lostNs() const { return candidate.timeNs - baseline.timeNs; }
};

/// One run as a whole.
struct SideOverview {
    int64_t wallNs = 0;  ///< Length of the compared range.
    int64_t gpuBusyNs =
        0;  ///< At least one kernel, memcpy or memset running; summed over the GPUs.
    uint32_t gpuCount = 0;  ///< GPUs that did anything in the range.
    /// Busy share of the GPUs' time, in [0, 1].
    double busyShare() const;
};

/// How long one step of a run takes: what a training is judged by, start-up left out.
struct StepPace {
    std::string pattern;  ///< Name of the NVTX ranges, digits as '#': "step #".
    int64_t baselineCount = 0, candidateCount = 0;
    double baselineMedianNs = 0, candidateMedianNs = 0;
};

/// Whether the candidate is worth a worry.
enum class Verdict : uint8_t { None, Same, Slower, Faster };

/// Two runs, name by name. A name that only one side has stands there with nothing on the other.
struct Comparison {
    std::string baselineTitle;
    std::string candidateTitle;
    TimeRange baselineRange;
    TimeRange candidateRange;
    SideOverview baseline;
    SideOverview candidate;
    std::optional<StepPace> steps;  ///< If both runs repeat an NVTX range.
    /// Sorted by time lost, greatest first, within each group; groups in the order of the enum.
    std::vector<Difference> differences;
};

/// Compares the events that start in each side's range: kernels by full name, memcpys by kind,
/// memsets, NVTX ranges by name and domain (marks take no time and are left out), API calls by
/// name. O(n log n) in the events for the busy time, linear otherwise; any thread.
Comparison compare(Baseline baseline, Candidate candidate);

/// The comparison with only the `perGroup` differences of each group that weigh most, lost or won,
/// in the order they had.
Comparison largestDifferences(Comparison comparison, size_t perGroup);

/// By the steps if both runs have any, else by the length of what was compared. `None` if a run is
/// empty; `Same` within half a percent.
Verdict verdictOf(const Comparison& comparison);

/// The comparison in a few sentences, most telling first: "The candidate is 25.3 % slower: 12.10 s
/// against 9.66 s.", where most of the time was lost, how busy the GPUs were.
std::vector<std::string> summaryLines(const Comparison& comparison);

/// The comparison as a table for `lanescope compare` and the viewer: Group, Name, Baseline Count
/// and Time, Candidate Count and Time, Lost, Change in percent of the baseline (empty against
/// nothing).
ReportTable toTable(const Comparison& comparison);

/// The stretches to compare when start-up must not count: in each run from the start of the first
/// NVTX range called `name` to the end of the last, over as many of them as both runs have. In a
/// name
/// '#' stands for any number: "step #" means every step. The ranges before number `first` (0 =
/// none) are left out too.
struct AlignedRanges {
    TimeRange baseline;
    TimeRange candidate;
    int64_t occurrences = 0;
};
Result<AlignedRanges> alignedRanges(const Trace& baseline, const Trace& candidate,
                                    std::string_view name, int first = 0);

/// How many of the first ranges called `name` are warm-up: longer than twice the median, in either
/// run. 0 if that would leave none.
int warmUpCount(const Trace& baseline, const Trace& candidate, std::string_view name);

/// The start of the `occurrence`-th NVTX range called `name` (0 = first), for lining two runs up.
Result<int64_t> alignmentTime(const Trace& trace, std::string_view name, int occurrence = 0);

/// Names of NVTX ranges that both traces have, most frequent first: what runs can be aligned by.
/// Numbered names also stand there together, as "step #".
std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate);

}  // namespace lanescope
