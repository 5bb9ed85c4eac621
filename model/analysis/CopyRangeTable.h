// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/bandwidth/CopyIndex.h"

namespace lanescope {

/// One instance of an NVTX range of one process: an epoch, a step.
struct RangeInstance {
    std::string name;
    int64_t number = 0;  ///< Number within its process, from 0.
    uint32_t process = 0;
    /// Time of its work on the GPU, as of a step (`StepSpan::range`); for a process without GPU work the NVTX range.
    TimeRange range;
};

/// Returns the instances of the ranges called `name` ('#' in it matches any number), or of the
/// ranges most similar to steps if it is empty. By start. Empty if there are no such ranges.
std::vector<RangeInstance> rangeInstances(const Trace& trace, std::string_view name = {});

struct CopiesOfRange {
    RangeInstance instance;
    std::vector<CopyStatistics> rows;  ///< Rows of its process only, clipped at its start and end.
};

/// The copies of one group in all instances of a range.
struct CopiesOfAllInstances {
    std::string range;  ///< "step #", or the name if all instances have the same.
    int64_t instanceCount = 0;
    /// Total of all instances, also of busy times. A copy that overlaps two instances counts in both.
    CopyStatistics total;
    /// Values of the median instance; an instance without copies of the group counts as 0.
    double medianCount = 0, medianBytes = 0, medianBusyNs = 0;
};

/// O(copies + instances * log n) as long as instances of one process do not overlap.
std::vector<CopiesOfRange> copiesByRange(const CopyIndex& index, const std::vector<RangeInstance>& instances,
                                         CopyGrouping grouping, std::optional<TimeRange> within = std::nullopt);

/// Returns the sums of the same instances, most bytes first. O(copies + instances * groups).
std::vector<CopiesOfAllInstances> copiesOfAllInstances(const CopyIndex& index, const std::vector<CopiesOfRange>& ranges,
                                                       CopyGrouping grouping,
                                                       std::optional<TimeRange> within = std::nullopt);

}  // namespace lanescope
