// SPDX-License-Identifier: Apache-2.0
#include "model/compare/poolRuns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/compare/workerPairs.h"
#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

void addContributors(const WorkerSummary& from, WorkerSummary& to) {
    using Key = std::tuple<StepPart, ContributorKind, std::string_view, std::string_view>;
    const auto keyOf = [](const Contributor& each) {
        return Key(each.part, each.kind, each.name, each.path);
    };
    std::map<Key, size_t> places;
    for (size_t index = 0; index < to.contributors.size(); ++index)
        places.emplace(keyOf(to.contributors[index]), index);
    std::vector<Contributor> added;
    for (const Contributor& each : from.contributors) {
        const auto place = places.find(keyOf(each));
        if (place == places.end()) {
            added.push_back(each);
            continue;
        }
        Contributor& sum = to.contributors[place->second];
        sum.count += each.count;
        sum.exposedNs += each.exposedNs;
        sum.totalNs += each.totalNs;
        sum.bytes += each.bytes;
        sum.busBytes += each.busBytes;
        sum.waitedNs += each.waitedNs;
        sum.workedNs += each.workedNs;
        if (sum.launched != each.launched) sum.launched.clear();
    }
    to.contributors.insert(to.contributors.end(), std::make_move_iterator(added.begin()),
                           std::make_move_iterator(added.end()));
}

/// Says of the outliers from number `first` on which run they are of.
void nameOutliers(WorkerSummary& worker, size_t first, const std::string& label,
                  const std::string& title) {
    for (size_t index = first; index < worker.outliers.size(); ++index)
        worker.outliers[index].run = fmt::format("{} of {}", label, printable(title));
}

void addWorker(const WorkerSummary& from, const std::string& title, WorkerSummary& to) {
    const size_t known = to.outliers.size();
    to.endedAbnormally |= from.endedAbnormally;
    to.foundSteps += from.foundSteps;
    to.warmUpSteps += from.warmUpSteps;
    to.isLastLeftOut |= from.isLastLeftOut;
    to.workNs += from.workNs;
    to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
    to.outliers.insert(to.outliers.end(), from.outliers.begin(), from.outliers.end());
    nameOutliers(to, known, from.label(), title);
    addContributors(from, to);
}

void setInOrder(WorkerSummary& worker) {
    std::stable_sort(worker.contributors.begin(), worker.contributors.end(),
                     [](const Contributor& a, const Contributor& b) {
                         return std::tuple(a.part, -a.exposedNs) < std::tuple(b.part, -b.exposedNs);
                     });
    std::stable_sort(
        worker.outliers.begin(), worker.outliers.end(),
        [](const OutlierStep& a, const OutlierStep& b) { return a.excessNs > b.excessNs; });
    if (worker.outliers.size() > mostOutliers) worker.outliers.resize(mostOutliers);
}

void addFacts(const SummaryFacts& from, SummaryFacts& to) {
    to.kernelCount += from.kernelCount;
    to.hasApiCalls = to.hasApiCalls && from.hasApiCalls;
    to.isTruncated |= from.isTruncated;
    to.isNvlinkPresent |= from.isNvlinkPresent;
    for (const HealthNote& warning : from.healthWarnings)
        if (std::find(to.healthWarnings.begin(), to.healthWarnings.end(), warning) ==
            to.healthWarnings.end())
            to.healthWarnings.push_back(warning);
    to.smClockHz += from.smClockHz;  // Their mean is made of it at the end.
    for (const std::string& process : from.otherGpuProcesses)
        if (std::find(to.otherGpuProcesses.begin(), to.otherGpuProcesses.end(), process) ==
            to.otherGpuProcesses.end())
            to.otherGpuProcesses.push_back(process);
    to.contentHash = 0;  // Several recordings are no copy of one.
}

/// What one run tells of NVLink holds for all only if they agree; then the mean of their bytes.
NvlinkTraffic commonTraffic(RunGroup runs) {
    NvlinkTraffic common = runs.front().nvlink;
    int64_t bytes = 0;
    for (const RunSummary& run : runs) {
        const NvlinkTraffic& each = run.nvlink;
        if (each.use != common.use || each.evidence != common.evidence ||
            each.stepEvidence != common.stepEvidence)
            return {};
        if (!each.bytesPerStep) common.bytesPerStep.reset();
        bytes += each.bytesPerStep.value_or(0) / static_cast<int64_t>(runs.size());
        common.bestBytesPerSecond = std::max(common.bestBytesPerSecond, each.bestBytesPerSecond);
    }
    if (common.bytesPerStep) common.bytesPerStep = bytes;
    return common;
}

std::string titlesOf(RunGroup runs) {
    std::string titles;
    for (const RunSummary& run : runs) titles += (titles.empty() ? "" : ", ") + run.facts.title;
    return titles;
}

Result<void> checkSteps(const RunSummary& run, std::string_view side) {
    const bool hasSteps = std::all_of(run.workers.begin(), run.workers.end(),
                                      [](const auto& worker) { return !worker.steps.empty(); });
    if (!run.isEmpty() && hasSteps) return {};
    return fail("Run {} of the {} has no steps on {}, so it cannot stand beside the others.",
                printable(run.facts.title), side, run.isEmpty() ? "any GPU" : "one of its GPUs");
}

}  // namespace

Result<PooledRuns> poolRuns(RunGroup runs, std::string_view side) {
    PooledRuns pooled;
    for (const RunSummary& run : runs) {
        const Result<void> checked = checkSteps(run, side);
        if (!checked) return fail(checked.error());
        if (&run == &runs.front()) {
            pooled.summary = run;
            if (runs.size() > 1)
                for (WorkerSummary& worker : pooled.summary.workers)
                    nameOutliers(worker, 0, worker.label(), run.facts.title);
        }
        const std::vector<WorkerPair> pairs = workerPairs(pooled.summary, run);
        if (pairs.size() != pooled.summary.workers.size() || pairs.size() != run.workers.size())
            return fail("Runs {} and {} of the {} have not the same processes on GPUs.",
                        printable(runs.front().facts.title), printable(run.facts.title), side);
        std::vector<uint32_t>& places = pooled.workers.emplace_back(pairs.size());
        for (const WorkerPair& pair : pairs) {
            places[pair.baseline] = pair.candidate;
            if (&run != &runs.front())
                addWorker(run.workers[pair.candidate], run.facts.title,
                          pooled.summary.workers[pair.baseline]);
        }
        if (&run != &runs.front()) addFacts(run.facts, pooled.summary.facts);
    }
    if (pooled.workers.empty()) return fail("The {} has no runs.", side);
    if (runs.size() == 1) return pooled;
    for (WorkerSummary& worker : pooled.summary.workers) setInOrder(worker);
    const bool areClocksKnown = std::all_of(
        runs.begin(), runs.end(), [](const RunSummary& run) { return run.facts.smClockHz > 0; });
    pooled.summary.facts.smClockHz =
        areClocksKnown ? pooled.summary.facts.smClockHz / static_cast<int64_t>(runs.size()) : 0;
    pooled.summary.facts.title = titlesOf(runs);
    pooled.summary.nvlink = commonTraffic(runs);
    return pooled;
}

}  // namespace lanescope::compare
