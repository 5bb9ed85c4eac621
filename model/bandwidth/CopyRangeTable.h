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
    TimeRange range;
};

/// The instances of the ranges called `name` ('#' in it stands for any number); of the ranges that
/// look most like steps if it is empty. By start. None if there are no such ranges.
std::vector<RangeInstance> rangeInstances(const Trace& trace, std::string_view name = {});

struct CopiesOfRange {
    RangeInstance instance;
    std::vector<CopyStatistics> rows;  ///< Of its process only, cut at its start and end.
};

/// O(copies + instances * log n) as long as instances of one process do not overlap.
std::vector<CopiesOfRange> copiesByRange(const CopyIndex& index,
                                         const std::vector<RangeInstance>& instances,
                                         CopyGrouping grouping,
                                         std::optional<TimeRange> within = std::nullopt);

}  // namespace lanescope
