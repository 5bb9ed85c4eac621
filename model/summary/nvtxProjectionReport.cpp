// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "model/summary/nvtxLabels.h"
#include "model/summary/rangeProjections.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"
#include "model/trace/hasWorkOfGpu.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

/// All ranges of one name and style that launched GPU work.
struct ProjectedRanges {
    NvtxStyle style = NvtxStyle::PushPop;
    StringIndex domain = 0, text = 0;
    std::vector<int64_t> projectedNs = {};
    Statistics figures = {};  ///< Of `projectedNs`, whole.
    std::string label = {};
    int64_t rangeNs = 0, operations = 0, levels = 0, children = 0;
    /// Of the projections, what lies in the range that is asked for, and how many reach beyond it.
    int64_t projectedWithinNs = 0, cut = 0;
};

struct NameAndStyle {
    StringIndex domain, text;
    NvtxStyle style;
    bool operator==(const NameAndStyle&) const = default;
};

struct HashNameAndStyle {
    size_t operator()(const NameAndStyle& key) const {
        const uint64_t packed = (static_cast<uint64_t>(key.domain) << 32) | key.text;
        return std::hash<uint64_t>{}(packed * 4 + static_cast<uint64_t>(key.style));
    }
};

std::vector<ProjectedRanges> collect(const ReportQuery& query) {
    const NvtxTable& nvtx = query.trace.nvtx;
    const std::vector<RangeProjection> projections = projectRanges(query.trace);
    std::unordered_map<NameAndStyle, size_t, HashNameAndStyle> groupOf;
    std::vector<ProjectedRanges> groups;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        const RangeProjection& projection = projections[row];
        if (projection.operationCount == 0) continue;
        // What is launched in a range runs when it does.
        const TimeRange own{nvtx.startNs[row], nvtx.endNs[row]}, onGpu = projection.range;
        const bool isOnCpu = query.includes(own.startNs, own.endNs);
        const bool isOnGpu = query.includes(onGpu.startNs, onGpu.endNs);
        if (!isOnCpu && !isOnGpu) continue;
        const NameAndStyle key{nvtx.domain[row], nvtx.text[row], nvtx.style[row]};
        const auto [place, isNew] = groupOf.try_emplace(key, groups.size());
        if (isNew) groups.push_back({key.style, key.domain, key.text});
        ProjectedRanges& group = groups[place->second];
        const int64_t ownNs = isOnCpu ? query.timeWithin(own.startNs, own.endNs) : 0;
        const int64_t onGpuNs = isOnGpu ? query.timeWithin(onGpu.startNs, onGpu.endNs) : 0;
        group.projectedNs.push_back(onGpu.durationNs());
        group.projectedWithinNs = saturatingSum(group.projectedWithinNs, onGpuNs);
        group.rangeNs = saturatingSum(group.rangeNs, ownNs);
        if (ownNs != own.durationNs() || onGpuNs != onGpu.durationNs()) ++group.cut;
        group.operations += projection.operationCount;
        group.levels += projection.level;
        group.children += projection.childCount;
    }
    for (ProjectedRanges& group : groups) {
        group.figures = statisticsOf(group.projectedNs);
        group.label = rangeLabel(query.trace, group.domain, group.text);
    }
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
        if (a.projectedWithinNs != b.projectedWithinNs)
            return a.projectedWithinNs > b.projectedWithinNs;
        return a.label < b.label;
    });
    return groups;
}

ReportTable nvtxGpuProjectionSummary(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Range", Unit::Text},
                     {"Style", Unit::Text},
                     {"Total Proj Time", Unit::Nanoseconds},
                     {"Total Range Time", Unit::Nanoseconds},
                     {"Range Instances", Unit::Count},
                     {"Proj Avg", Unit::Nanoseconds},
                     {"Proj Med", Unit::Nanoseconds},
                     {"Proj Min", Unit::Nanoseconds},
                     {"Proj Max", Unit::Nanoseconds},
                     {"Proj StdDev", Unit::Nanoseconds},
                     {"Total GPU Ops", Unit::Count},
                     {"Avg GPU Ops", Unit::Count},
                     {"Avg Range Lvl", Unit::Count},
                     {"Avg Num Child", Unit::Count}};
    int64_t cut = 0;
    for (const ProjectedRanges& group : collect(query)) {
        cut += group.cut;
        const Statistics& figures = group.figures;
        const auto count = static_cast<double>(figures.count);
        table.searches.emplace_back(query.trace.strings.at(group.text));
        table.rows.push_back({group.label, std::string(styleName(group.style)),
                              group.projectedWithinNs, group.rangeNs, figures.count,
                              figures.average, figures.median, figures.minimum, figures.maximum,
                              figures.standardDeviation, group.operations,
                              static_cast<double>(group.operations) / count,
                              static_cast<double>(group.levels) / count,
                              static_cast<double>(group.children) / count});
    }
    table.notes = cutNotes(cut, "Total Proj Time and Total Range Time", "the other columns");
    return table;
}

}  // namespace

const Report nvtxGpuProjectionSummaryReport{
    .info = {.name = "nvtx_gpu_proj_sum",
             .title = "NVTX GPU Projection Summary",
             .description = "Time the GPU took for the work launched inside each NVTX range"},
    .build = nvtxGpuProjectionSummary,
    .tab = {"NVTX on the GPU", 3,
            [](const Trace& trace) { return trace.nvtx.size() > 0 && hasWorkOfGpu(trace); }}};

}  // namespace lanescope
