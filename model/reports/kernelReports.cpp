// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/groupKernels.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/format/Memory.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/reports.h"
#include "model/text/kernelFamilies.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// Returns a row per family and worker. The chosen range of time replaces the steps.
ReportTable kernelFamilies(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Worker", Unit::Text},        {"Family", Unit::Text},
                     {"Precision", Unit::Text},     {"Time per Step", Unit::Nanoseconds},
                     {"Of Compute", Unit::Percent}, {"Launches per Step", Unit::Count},
                     {"Line", Unit::Text},          {"Largest Kernel", Unit::Text}};
    StepSelection selection{.rangeName = query.rangeName, .stretch = query.range};
    const auto run = analysis::summarizeRun(query.trace, selection);
    if (!run) return table;
    for (const analysis::WorkerSummary& worker : run->workers) {
        const auto steps = static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
        const int64_t computeNs = worker.totalParts()[analysis::StepPart::Compute];
        for (const analysis::FamilySum& each : analysis::familySums(worker)) {
            const bool isKnown = each.precision != KernelPrecision::Unknown;
            table.rows.push_back(
                {worker.label(), std::string(name(each.family)),
                 isKnown ? Cell(std::string(identifier(each.precision))) : Cell(),
                 static_cast<double>(each.exposedNs) / steps,
                 100 * static_cast<double>(each.exposedNs) / static_cast<double>(std::max<int64_t>(computeNs, 1)),
                 static_cast<double>(each.count) / steps, each.launched, analysis::shortContributorName(each.name)});
            table.searches.push_back(each.name);
        }
    }
    return table;
}

/// Group keys of kernels, by launch configuration, and the name of each.
struct KernelNames {
    std::vector<uint32_t> numberOf;
    std::vector<std::string_view> names;
};

KernelNames namesOf(const Trace& trace, auto nameOf) {
    KernelNames made;
    std::map<std::string_view, uint32_t> numbers;
    for (const LaunchConfig& config : trace.launchConfigs) {
        const auto [found, isNew] = numbers.try_emplace(nameOf(config), static_cast<uint32_t>(made.names.size()));
        if (isNew) made.names.push_back(found->first);
        made.numberOf.push_back(found->second);
    }
    return made;
}

ReportTable summaryByName(const ReportQuery& query, auto nameOf) {
    const KernelTable& kernels = query.trace.kernels;
    const KernelNames names = namesOf(query.trace, nameOf);
    GroupedValues durations;
    for (uint32_t row = 0; row < kernels.size(); ++row)
        durations.addTime(names.numberOf[kernels.config[row]], query, kernels.startNs[row], kernels.endNs[row]);
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        const std::string name(names.names[group.key]);
        rows.push_back({group, {name}, name});
    }
    return summaryTable({.labelColumns = {"Name"}}, std::move(rows));
}

ReportTable kernelSummary(const ReportQuery& query) {
    return summaryByName(query,
                         [&](const LaunchConfig& config) { return query.trace.strings.at(config.demangledName); });
}

ReportTable kernelBaseNameSummary(const ReportQuery& query) {
    return summaryByName(query, [&](const LaunchConfig& config) { return sourceName(query.trace, config); });
}

ReportTable kernelFamilySummary(const ReportQuery& query) {
    return summaryByName(
        query, [&](const LaunchConfig& config) { return query.trace.strings.at(kinds::Kernel::nameIndex(config)); });
}

ReportTable apiSummary(const ReportQuery& query) {
    const ApiTable& calls = query.trace.apiCalls;
    GroupedValues durations;
    for (uint32_t row = 0; row < calls.size(); ++row)
        durations.addTime(calls.name[row], query, calls.startNs[row], calls.endNs[row]);
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        const std::string name(query.trace.strings.at(static_cast<StringIndex>(group.key)));
        rows.push_back({group, {name}, name});
    }
    return summaryTable({.countColumn = "Num Calls", .labelColumns = {"Name"}}, std::move(rows));
}

ReportTable kernelsByModule(const ReportQuery& query) {
    WorkModules modules(query.trace);
    GroupedValues durations;
    if (!modules.isEmpty())
        forEachLaunchedWork(query.trace, [&](const LaunchedWork& work) {
            if (work.work.kind() == EventKind::Kernel)
                durations.addTime(modules.of(work), query, work.times.startNs, work.times.endNs);
        });
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : durations.groups()) {
        if (group.key == noIndex) {
            rows.push_back({group, {"(no module)", {}}, {}});
            continue;
        }
        const Module& module = modules.modules()[group.key];
        rows.push_back({group, {module.path, module.type}, "module:\"" + module.path + '"'});
    }
    return summaryTable({.labelColumns = {"Module", "Class"}}, std::move(rows));
}

Result<analysis::ReplayedRun> replayOf(const ReportQuery& query) {
    StepSelection selection{.rangeName = query.rangeName, .stretch = query.range};
    return analysis::replayRun(query.trace, selection);
}

/// Adds the steps of a replay, its error and why it makes no forecast.
void addReplayNotes(const ReportQuery& query, const analysis::ReplayedRun& run, ReportTable& table) {
    table.notes.push_back(fmt::format("{}, {}. A replay of the recorded causes is off by {} %.", run.worker,
                                      query.range ? "sums of the range" : run.replay.stepsText(),
                                      analysis::percentDifferenceText(100 * run.replay.error())));
    if (const std::string refusal = run.replay.refusal(); !refusal.empty()) table.notes.push_back(refusal);
}

/// Returns a row per part, name, line and process of the critical path of the worker with the longest mean step.
ReportTable criticalPath(const ReportQuery& query) {
    ReportTable table{.columns = {{query.range ? "Of Time" : "Of Step", Unit::Percent},
                                  {query.range ? "Time" : "Time per Step", Unit::Nanoseconds},
                                  {query.range ? "Count" : "Count per Step", Unit::Count},
                                  {"Process", Unit::Text},
                                  {"Part", Unit::Text},
                                  {"Name", Unit::Text},
                                  {"Line", Unit::Text}}};
    const Result<analysis::ReplayedRun> run = replayOf(query);
    if (!run || run->replay.stepCount() == 0) return table;
    const std::vector<analysis::PathTime> path = analysis::pathTimes(query.trace, run->replay);
    const int64_t wholeNs = sumOf(path, &analysis::PathTime::ns);
    const auto steps = static_cast<double>(run->replay.stepCount());
    for (const analysis::PathTime& each : path)
        table.rows.push_back({100 * static_cast<double>(each.ns) / static_cast<double>(std::max<int64_t>(wholeNs, 1)),
                              static_cast<double>(each.ns) / steps, each.count / steps, each.process(),
                              std::string(name(each.part)), std::string(each.shownName()), each.line});
    addReplayNotes(query, *run, table);
    return table;
}

/// Returns the parts of a step and what less of each would save.
ReportTable slopes(const ReportQuery& query) {
    ReportTable table{.columns = {{"Saves at -10 %", Unit::Nanoseconds},
                                  {"Saves Without It", Unit::Nanoseconds},
                                  {"Slope", Unit::Percent},
                                  {"Time per Step", Unit::Nanoseconds},
                                  {"Part", Unit::Text}}};
    const Result<analysis::ReplayedRun> run = replayOf(query);
    if (!run || run->replay.stepCount() == 0) return table;
    if (run->replay.refusal().empty()) {
        table.notes.emplace_back("Forecast savings per step. Slope: saved time, in percent of the removed time.");
        for (const causality::Slope& each : run->replay.slopes())
            table.rows.push_back({each.savedNs, each.removedNs, 100 * each.slope(), each.ownNs, each.part.partText()});
    }
    addReplayNotes(query, *run, table);
    return table;
}

}  // namespace

const Report gpuFamiliesReport{
    .info = {"gpu_families", "Kernel Families", "Compute time of steps by kind: matrix products, elementwise"},
    .build = kernelFamilies};

const Report kernelSummaryReport{.info = {.name = "cuda_gpu_kern_sum",
                                          .title = "CUDA GPU Kernel Summary",
                                          .description = "Time of each kernel, by full name",
                                          .isDefault = true},
                                 .build = kernelSummary,
                                 .tab = {"Kernels", 1, [](const Trace& trace) { return trace.kernels.size() > 0; }}};

const Report kernelBaseNameSummaryReport{.info = {"cuda_gpu_kern_sum:base", "CUDA GPU Kernel Summary (base names)",
                                                  "Time of each kernel, without template and function arguments"},
                                         .build = kernelBaseNameSummary};

const Report kernelFamilySummaryReport{.info = {"cuda_gpu_kern_sum:family", "CUDA GPU Kernel Summary (families)",
                                                "Time of kernels by family: add f32, sgemm 128x64 tn"},
                                       .build = kernelFamilySummary};

const Report apiSummaryReport{.info = {.name = "cuda_api_sum",
                                       .title = "CUDA API Summary",
                                       .description = "Time in each CUDA runtime and driver call",
                                       .isDefault = true},
                              .build = apiSummary,
                              .tab = {"CUDA API", 4, [](const Trace& trace) { return trace.apiCalls.size() > 0; }}};

const Report kernelsByModuleReport{
    .info = {"kernels_by_module", "Kernels by Module", "Kernel time by module of a PyTorch model, also in CUDA graphs"},
    .build = kernelsByModule};

const Report criticalPathReport{.info = {.name = "critical_path",
                                         .title = "Critical Path",
                                         .description = "Parts that determine the time of a step, by Python line",
                                         .isByRange = true},
                                .build = criticalPath};

const Report slopesReport{
    .info = {.name = "slopes",
             .title = "Forecast Savings per Step",
             .description = "What less of each part of a step saves, by forecast; names as in 'lanescope whatif'",
             .isByRange = true},
    .build = slopes};

}  // namespace lanescope
