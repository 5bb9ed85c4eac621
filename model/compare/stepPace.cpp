#include "model/compare/stepPace.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/compare/rangePattern.h"
#include "model/summary/Statistics.h"

namespace lanescope {

namespace {

constexpr size_t fewestSteps = 3;

using DurationsByPattern = std::map<std::string, std::vector<int64_t>>;

DurationsByPattern outermostDurations(const Trace& trace, TimeRange range) {
    DurationsByPattern durations;
    std::unordered_map<StringIndex, std::vector<int64_t>*> known;  // a pattern is made once a name
    const NvtxTable& nvtx = trace.nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.style[row] == NvtxStyle::Mark || nvtx.depth[row] != 0 || nvtx.isOpen[row]) continue;
        if (!range.contains(nvtx.startNs[row]) || trace.strings.at(nvtx.domain[row]) == "NCCL") continue;
        std::vector<int64_t>*& list = known[nvtx.text[row]];
        if (!list) list = &durations[rangePattern(trace.strings.at(nvtx.text[row]))];
        list->push_back(nvtx.endNs[row] - nvtx.startNs[row]);
    }
    return durations;
}

}  // namespace

std::optional<StepPace> stepPace(const Baseline& baseline, const Candidate& candidate) {
    DurationsByPattern before = outermostDurations(baseline.trace, baseline.range);
    DurationsByPattern after = outermostDurations(candidate.trace, candidate.range);
    std::optional<StepPace> pace;
    int64_t longestNs = 0;
    for (auto& [pattern, durations] : before) {
        const auto other = after.find(pattern);
        if (other == after.end() || durations.size() < fewestSteps ||
            other->second.size() < fewestSteps) {
            continue;
        }
        const Statistics baselineFigures = statisticsOf(durations);
        const Statistics candidateFigures = statisticsOf(other->second);
        const int64_t totalNs = saturatingSum(baselineFigures.total, candidateFigures.total);
        if (totalNs <= longestNs) continue;
        longestNs = totalNs;
        pace = StepPace{pattern, baselineFigures.count, candidateFigures.count, baselineFigures.median,
                        candidateFigures.median};
    }
    return pace;
}

}  // namespace lanescope
