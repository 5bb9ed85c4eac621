// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/format/Memory.h"
#include "model/reports/reports.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

using causality::EdgeKind;
using causality::NodeKind;

/// Key of a row.
struct PathRow {
    std::string part, name, line;
    uint32_t process = 0;
    auto operator<=>(const PathRow&) const = default;
};

std::string delayName(EdgeKind kind) {
    switch (kind) {
        case EdgeKind::Launch:
        case EdgeKind::GraphLaunch: return "from launch to start";
        case EdgeKind::Wait:
        case EdgeKind::Copied:
        case EdgeKind::Queue: return "return from waiting";
        default: return "between GPU work";
    }
}

PathRow rowOf(const Trace& trace, const causality::NodeGroup& group, const causality::PathShare& share) {
    PathRow row;
    row.process = group.process;
    if (group.stack != noIndex) row.line = placeText(trace, group.stack);
    if (share.delay) {
        row.part = "delay";
        row.name = delayName(*share.delay);
        return row;
    }
    switch (group.kind) {
        case NodeKind::Host: row.part = group.isLoading ? "loader" : group.isUnknown ? "unknown wait" : "host"; break;
        case NodeKind::Arrival: row.part = "loader"; break;
        case NodeKind::Call:
        case NodeKind::Return:
            row.part = "call";
            row.name = trace.strings.at(group.name);
            break;
        case NodeKind::Kernel: {
            const std::string_view kernel = trace.strings.at(trace.launchConfigs.demangledName(group.name));
            row.part = trace.launchConfigs.isCollective(group.name) ? "collective" : "kernel";
            row.name = name(kernelClass(kernel).family);
            break;
        }
        case NodeKind::Collective:
        case NodeKind::Entered:
            row.part = "collective";
            row.name = trace.strings.at(trace.launchConfigs.collective(group.name));
            break;
        case NodeKind::Copy:
            row.part = "copy";
            row.name = name(static_cast<MemcpyKind>(group.name));
            break;
        case NodeKind::Memset: row.part = "memset"; break;
        case NodeKind::Graph: row.part = "graph"; break;
    }
    return row;
}

/// Returns a row per part, name, line and process of the critical path of the worker with the longest mean step.
ReportTable criticalPath(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Share", Unit::Percent},
                     {query.range ? "Time" : "Time per Step", Unit::Nanoseconds},
                     {query.range ? "Count" : "Count per Step", Unit::Count},
                     {"Process", Unit::Text},
                     {"Part", Unit::Text},
                     {"Name", Unit::Text},
                     {"Line", Unit::Text}};
    StepSelection selection;
    selection.rangeName = query.rangeName;
    selection.stretch = query.range;
    const Result<analysis::ReplayedRun> run = analysis::replayRun(query.trace, selection);
    if (!run || run->replay.stepCount() == 0) return table;
    std::map<PathRow, std::pair<int64_t, int64_t>> sums;
    int64_t wholeNs = 0;
    for (const causality::PathShare& share : run->replay.path()) {
        auto& [ns, count] = sums[rowOf(query.trace, run->replay.graph().groups[share.group], share)];
        ns += share.ns;
        count += share.count;
        wholeNs += share.ns;
    }
    std::vector<std::pair<PathRow, std::pair<int64_t, int64_t>>> rows(sums.begin(), sums.end());
    std::ranges::stable_sort(rows, std::greater(), [](const auto& row) { return row.second.first; });
    const auto steps = static_cast<double>(run->replay.stepCount());
    for (const auto& [row, sum] : rows) {
        const Process& process = query.trace.processes[row.process];
        table.rows.push_back({100 * static_cast<double>(sum.first) / static_cast<double>(std::max<int64_t>(wholeNs, 1)),
                              static_cast<double>(sum.first) / steps, static_cast<double>(sum.second) / steps,
                              process.rank ? fmt::format("rank {}", *process.rank) : fmt::format("PID {}", process.pid),
                              row.part, row.name, row.line});
    }
    table.notes.push_back(fmt::format("{}, {}. Replay error {} %.", run->worker,
                                      query.range ? "sums of the range" : run->replay.stepsText(),
                                      analysis::percentDifferenceText(100 * run->replay.error())));
    if (const std::string refusal = run->replay.refusal(); !refusal.empty()) table.notes.push_back(refusal);
    return table;
}

}  // namespace

const Report criticalPathReport{.info = {.name = "critical_path",
                                         .title = "Critical Path",
                                         .description = "Parts that determine the time of a step, by Python line",
                                         .isByRange = true},
                                .build = criticalPath};

}  // namespace lanescope
