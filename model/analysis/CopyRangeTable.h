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
    int64_t number = 0;  ///< Within its process, from 0.
    uint32_t process = 0;
    /// What its work takes on the GPU, as of a step (`StepSpan::range`); in a process that no GPU
    /// works for, the NVTX range.
    TimeRange range;
};

/// The instances of the ranges called `name` ('#' in it stands for any number); of the ranges that
/// look most like steps if it is empty. By start. None if there are no such ranges.
std::vector<RangeInstance> rangeInstances(const Trace& trace, std::string_view name = {});

struct CopiesOfRange {
    RangeInstance instance;
    std::vector<CopyStatistics> rows;  ///< Of its process only, cut at its start and end.
};

/// The copies of one group in all instances of a range.
struct CopiesOfAllInstances {
    std::string range;  ///< "step #", or the name if all instances have the same.
    int64_t instanceCount = 0;
    /// Of all instances together. Busy times are those of the instances, summed; a copy that
    /// reaches over two of them counts in both.
    CopyStatistics total;
    /// In the median instance; one in which nothing of the group was copied counts as 0.
    double medianCount = 0, medianBytes = 0, medianBusyNs = 0;
};

/// O(copies + instances * log n) as long as instances of one process do not overlap.
std::vector<CopiesOfRange> copiesByRange(const CopyIndex& index,
                                         const std::vector<RangeInstance>& instances,
                                         CopyGrouping grouping,
                                         std::optional<TimeRange> within = std::nullopt);

/// The same instances summed up, most bytes first. O(copies + instances * groups).
std::vector<CopiesOfAllInstances> copiesOfAllInstances(
    const CopyIndex& index, const std::vector<CopiesOfRange>& ranges, CopyGrouping grouping,
    std::optional<TimeRange> within = std::nullopt);

}  // namespace lanescope
