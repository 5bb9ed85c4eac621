#include "model/bandwidth/CopyRangeTable.h"

#include <algorithm>

#include "model/compare/stepRanges.h"

namespace lanescope {

std::vector<RangeInstance> rangeInstances(const Trace& trace, std::string_view name) {
    const std::string pattern = name.empty() ? findStepPattern(trace) : std::string(name);
    std::vector<RangeInstance> instances;
    if (pattern.empty()) return instances;
    for (const StepRanges& ranges : stepRangesNamed(trace, pattern)) {
        int64_t number = 0;
        for (const uint32_t row : ranges.rows)
            instances.push_back({std::string(trace.strings.at(trace.nvtx.text[row])),
                                 number++,
                                 ranges.process,
                                 {trace.nvtx.startNs[row], trace.nvtx.endNs[row]}});
    }
    std::stable_sort(instances.begin(), instances.end(), [](const auto& a, const auto& b) {
        return a.range.startNs < b.range.startNs;
    });
    return instances;
}

std::vector<CopiesOfRange> copiesByRange(const CopyIndex& index,
                                         const std::vector<RangeInstance>& instances,
                                         CopyGrouping grouping, std::optional<TimeRange> within) {
    std::vector<CopiesOfRange> result;
    for (const RangeInstance& instance : instances) {
        const TimeRange range = within ? instance.range.intersected(*within) : instance.range;
        if (range.isEmpty()) continue;
        result.push_back({instance, index.statistics({grouping, range, instance.process})});
    }
    return result;
}

}  // namespace lanescope
