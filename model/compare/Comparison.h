#pragma once

#include <cstdint>
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

/// Two runs, name by name.
struct Comparison {
    std::string baselineTitle;
    std::string candidateTitle;
    TimeRange baselineRange;
    TimeRange candidateRange;
    /// Sorted by time lost, greatest first, within each group; groups in the order of the enum.
    std::vector<Difference> differences;
};

/// Compares the events that start in each side's range. Linear in the events; any thread.
Comparison compare(Baseline baseline, Candidate candidate);

/// The comparison as a table for `lanescope compare` and the viewer: Group, Name, Baseline count and
/// time, Candidate count and time, Lost, Percent.
ReportTable toTable(const Comparison& comparison);

/// The start of the `occurrence`-th NVTX range called `name` (0 = first), for lining two runs up.
Result<int64_t> alignmentTime(const Trace& trace, std::string_view name, int occurrence = 0);

/// Names of NVTX ranges that both traces have, most frequent first: what runs can be aligned by.
std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate);

}  // namespace lanescope
