// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "model/compare/RunSummary.h"
#include "model/compare/summarizeWorker.h"
#include "model/compare/summaryFacts.h"
#include "model/trace/kinds/workStacks.h"
#include "model/values/Statistics.h"
#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

/// Of the median step: a range that takes less on the CPU than this tells that it runs ahead.
constexpr double aheadShare = 0.9;

void describeWorker(const Trace& trace, const WorkerSteps& steps, WorkerSummary& worker) {
    const Process& process = trace.processes[steps.process];
    worker.pid = process.pid;
    worker.rank = process.rank;
    worker.processName = process.name;
    worker.endedAbnormally = process.endedAbnormally;
    worker.gpuId = trace.gpus[steps.gpu].id;
    worker.gpuName = trace.gpus[steps.gpu].name;
}

NvlinkTraffic nvlinkOf(const Trace& trace, const RunSteps& steps) {
    const NvlinkVerdict verdict = judgeNvlink(trace, steps);
    NvlinkTraffic traffic{verdict.use, verdict.evidence, std::nullopt, verdict.stepEvidence,
                          std::llround(verdict.bestGBps * 1e9)};
    if (verdict.bytesPerStep) traffic.bytesPerStep = std::llround(*verdict.bytesPerStep);
    return traffic;
}

void sortWorkers(std::vector<WorkerSummary>& workers) {
    std::stable_sort(workers.begin(), workers.end(), [](const auto& a, const auto& b) {
        const auto key = [](const WorkerSummary& each) {
            return std::tuple(!each.rank.has_value(), each.rank.value_or(0), each.pid, each.gpuId);
        };
        return key(a) < key(b);
    });
}

}  // namespace

std::string_view name(ContributorKind kind) {
    return identifier(kind);  // plain words, as it happens
}

std::string_view identifier(ContributorKind kind) {
    static constexpr std::array<std::string_view, 7> all{"kernel", "collective", "copy",  "memset",
                                                         "graph",  "idle",       "others"};
    return all[static_cast<size_t>(kind)];
}

std::string_view identifier(ContributorTrait trait) {
    static constexpr std::array<std::string_view, 4> all{"none", "pageable", "allocation",
                                                         "unknown"};
    return all[static_cast<size_t>(trait)];
}

bool SummaryFacts::saysWhoEnded() const {
    return std::any_of(healthWarnings.begin(), healthWarnings.end(), [](const HealthNote& note) {
        return note.code == HealthCode::ProcessEndedAbnormally;
    });
}

const HealthNote* SummaryFacts::damage() const {
    const HealthNote* gravest = nullptr;
    for (const HealthNote& note : healthWarnings)
        if (isDamage(note.code) && (!gravest || note.severity > gravest->severity)) gravest = &note;
    return gravest;
}

std::string WorkerSummary::label() const {
    return rank ? fmt::format("rank {}, GPU {}", *rank, gpuId)
                : fmt::format("PID {}, GPU {}", pid, gpuId);
}

StepParts WorkerSummary::totalParts() const {
    StepParts total;
    for (const StepSummary& step : steps) total += step.parts;
    return total;
}

int64_t WorkerSummary::totalWallNs() const {
    int64_t total = 0;
    for (const StepSummary& step : steps) total += step.wallNs;
    return total;
}

std::optional<double> WorkerSummary::coverage() const {
    if (workNs <= 0 || steps.empty()) return std::nullopt;
    // A step may begin a little before its work.
    return std::min(1.0, static_cast<double>(totalWallNs()) / static_cast<double>(workNs));
}

std::optional<int64_t> WorkerSummary::meanOnCpuNs() const {
    double sumNs = 0;
    int64_t count = 0;
    for (const StepSummary& step : steps) {
        sumNs += static_cast<double>(step.onCpuNs.value_or(0));
        count += step.onCpuNs ? 1 : 0;
    }
    if (count == 0) return std::nullopt;
    return static_cast<int64_t>(sumNs / static_cast<double>(count));
}

std::string WorkerSummary::aheadText() const {
    const std::optional<int64_t> onCpuNs = meanOnCpuNs();
    if (!onCpuNs) return {};
    const double meanNs =
        static_cast<double>(totalWallNs()) / static_cast<double>(std::max<size_t>(steps.size(), 1));
    if (static_cast<double>(*onCpuNs) >= aheadShare * meanNs) return {};
    return fmt::format("on the CPU, which runs ahead, {}", formatDuration(*onCpuNs));
}

bool RunSummary::isEmpty() const {
    return std::none_of(workers.begin(), workers.end(),
                        [](const WorkerSummary& worker) { return worker.totalWallNs() > 0; });
}

uint32_t RunSummary::criticalWorker() const {
    uint32_t critical = noIndex;
    int64_t leastWaitingNs = 0;
    for (uint32_t index = 0; index < workers.size(); ++index) {
        const WorkerSummary& worker = workers[index];
        if (worker.steps.empty()) continue;
        // Of ranks that step together, the one that waits least for the others.
        const StepParts parts = worker.totalParts();
        const int64_t waitingNs = (parts[StepPart::ExposedCommunication] +
                                   parts[StepPart::WaitingForRanks] - worker.totalWallNs()) /
                                  static_cast<int64_t>(worker.steps.size());
        if (critical != noIndex && waitingNs >= leastWaitingNs) continue;
        critical = index;
        leastWaitingNs = waitingNs;
    }
    return critical;
}

Result<RunSummary> summarizeRun(const Trace& trace, const StepSelection& selection,
                                const SummaryProgress& progress) {
    const auto isCancelled = [&](double fraction) { return progress && !progress(fraction); };
    RunSummary summary;
    summary.facts = factsOf(trace);
    if (trace.isEmpty()) return summary;
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    summary.source = steps->source;
    summary.kind = steps->kind;
    summary.rangesPerStep = steps->rangesPerStep;
    summary.pattern = steps->pattern;
    if (isCancelled(0.1)) return fail("Summing up {} was cancelled.", trace.title);
    const RunContext run(trace, *steps);
    const SummarySources sources(trace);
    for (size_t index = 0; index < steps->workers.size(); ++index) {
        const double done = static_cast<double>(index) / static_cast<double>(steps->workers.size());
        if (isCancelled(0.3 + 0.7 * done)) return fail("Summing up {} was cancelled.", trace.title);
        const WorkerSteps& found = steps->workers[index];
        if (found.steps.empty()) continue;
        WorkerSummary worker = summarizeWorker(run, sources, found);
        describeWorker(trace, found, worker);
        summary.workers.push_back(std::move(worker));
    }
    sortWorkers(summary.workers);
    summary.nvlink = nvlinkOf(trace, *steps);
    return summary;
}

}  // namespace lanescope::compare
