// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/startedProcesses.h"

#include <algorithm>
#include <iterator>

#include "model/analysis/ThreadActivities.h"
#include "model/trace/processes.h"

namespace lanescope::analysis {

namespace {

constexpr double minAffectedShare = 0.8, maxOtherShare = 0.05;
/// Minimum share of the child processes that samples show loading data. Some end before the first sample.
constexpr double minLoaderShare = 0.5;
/// Between processes that start together. If some start at any time, those of a step are no reason.
constexpr int64_t maxBurstNs = 300'000'000;
/// Minimum steps in which processes start; of data loaders, which start on purpose. Two steps of others may be chance.
constexpr size_t minSteps = 3, minLoaderSteps = 2;

/// Returns the number of sequences of times with at most `gapNs` between two of them.
size_t burstsOf(const std::vector<int64_t>& timesNs, int64_t gapNs) {
    size_t bursts = timesNs.empty() ? 0 : 1;
    for (size_t index = 1; index < timesNs.size(); ++index) bursts += timesNs[index] - timesNs[index - 1] > gapNs;
    return bursts;
}

}  // namespace

std::vector<ProcessStarts> processStarts(const Trace& trace) {
    // Most have no events, only states.
    std::vector<int64_t> firstNs(trace.processes.size(), INT64_MAX);
    for (uint32_t row = 0; row < trace.cpuStates.size(); ++row) {
        int64_t& startNs = firstNs[trace.threads[trace.cpuStates.thread[row]].process];
        startNs = std::min(startNs, trace.cpuStates.startNs[row]);
    }
    const std::vector<uint32_t> parents = parentProcesses(trace);
    const LoaderThreads loaders(trace);
    std::vector<ProcessStarts> all(trace.processes.size());
    for (uint32_t process = 0; process < all.size(); ++process) {
        if (parents[process] == noIndex || firstNs[process] == INT64_MAX) continue;
        const std::string& name = trace.processes[process].name;
        ProcessStarts& starts = all[parents[process]];
        const std::string brief = name.substr(name.find_last_of('/') + 1);
        starts.name = starts.seenNs.empty() || starts.name == brief ? brief : std::string();
        starts.seenNs.push_back(firstNs[process]);
    }
    for (uint32_t process = 0; process < all.size(); ++process) {
        ProcessStarts& starts = all[process];
        std::ranges::sort(starts.seenNs);
        std::set<uint32_t> seenLoading;
        for (const uint32_t thread : loaders.of(process))
            if (parents[trace.threads[thread].process] == process) seenLoading.insert(trace.threads[thread].process);
        starts.areLoaders = minLoaderShare * static_cast<double>(starts.seenNs.size()) <= seenLoading.size();
    }
    return all;
}

std::optional<Distinction> startsIn(DistinctionOf of, const ProcessStarts& starts, std::span<const StepSummary> steps,
                                    const std::set<uint32_t>& affected) {
    if (affected.size() < (starts.areLoaders ? minLoaderSteps : minSteps) || affected.size() >= steps.size())
        return std::nullopt;
    std::set<uint32_t> having;
    std::vector<int64_t> startsNs;
    int64_t others = 0;
    for (const int64_t ns : starts.seenNs) {
        if (ns < steps.front().startNs + maxUnseenNs && ns < steps[*affected.begin()].startNs) continue;
        const auto next = std::ranges::find_if(affected, [&](uint32_t place) { return steps[place].startNs > ns; });
        const bool isAfter = next != affected.begin();
        const StepSummary* last = isAfter ? &steps[*std::prev(next)] : nullptr;
        if (last == nullptr || ns > last->startNs + last->wallNs + maxUnseenNs) {
            ++others;
            continue;
        }
        having.insert(*std::prev(next));
        startsNs.push_back(ns);
    }
    const auto count = std::ssize(startsNs);
    // Some of the processes that start together may be seen a second later. All are then one group at most.
    const size_t bursts = burstsOf(startsNs, maxBurstNs), groups = burstsOf(startsNs, maxUnseenNs + maxBurstNs);
    const bool areTogether = bursts <= having.size() || (groups <= having.size() && 2 * groups > having.size());
    // After the last of these steps a program may start nothing more.
    const auto wanted = static_cast<double>(affected.size());
    if (static_cast<double>(having.size()) < std::min(minAffectedShare * wanted, wanted - 1) ||
        static_cast<double>(others) > maxOtherShare * static_cast<double>(count) || !areTogether)
        return std::nullopt;
    return Distinction{of,          starts.areLoaders ? DistinctionKind::Loader : DistinctionKind::Process,
                       starts.name, static_cast<int64_t>(having.size()),
                       0,           count,
                       others};
}

}  // namespace lanescope::analysis
