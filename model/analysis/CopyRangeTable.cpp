// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/CopyRangeTable.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/analysis/StepSelection.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

/// Copies of one group, instance by instance.
struct Collected {
    CopyStatistics total;
    std::vector<double> counts, bytes, busyNs, rates;

    void add(const CopyStatistics& row) {
        total.group = row.group;
        total.peak = row.peak;
        total.count += row.count;
        total.bytes = saturatingSum(total.bytes, row.bytes);
        total.busyNs = saturatingSum(total.busyNs, row.busyNs);
        total.summedNs = saturatingSum(total.summedNs, row.summedNs);
        total.gpuBusyNs = saturatingSum(total.gpuBusyNs, row.gpuBusyNs);
        total.overlappedNs = saturatingSum(total.overlappedNs, row.overlappedNs);
        total.unratedCount += row.unratedCount;
        total.ratedBytes = saturatingSum(total.ratedBytes, row.ratedBytes);
        total.ratedNs = saturatingSum(total.ratedNs, row.ratedNs);
        total.clippedCount += row.clippedCount;
        counts.push_back(static_cast<double>(row.count));
        bytes.push_back(static_cast<double>(row.bytes));
        busyNs.push_back(static_cast<double>(row.busyNs));
    }
};

double medianOfAll(std::vector<double>& values, size_t instanceCount) {
    values.resize(instanceCount, 0);
    return medianOf(values);
}

}  // namespace

std::vector<RangeInstance> rangeInstances(const Trace& trace, std::string_view name) {
    StepSelection selection{.rangeName = name.empty() ? findStepPattern(trace) : std::string(name),
                            .keepsWarmUp = true};
    std::vector<RangeInstance> instances;
    if (selection.rangeName.empty()) return instances;
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return instances;
    std::set<uint32_t> processes;  // a process on several GPUs has its ranges once
    for (const WorkerSteps& worker : steps->workers) {
        if (!processes.insert(worker.process).second) continue;
        for (const StepSpan& step : worker.steps)
            instances.push_back({step.name, step.number, worker.process, step.range});
    }
    for (const StepRanges& ranges : stepRangesNamed(trace, selection.rangeName)) {
        if (processes.contains(ranges.process)) continue;
        int64_t number = 0;
        for (const uint32_t row : ranges.rows)
            instances.push_back({std::string(trace.strings.at(trace.nvtx.text[row])),
                                 number++,
                                 ranges.process,
                                 {trace.nvtx.startNs[row], trace.nvtx.endNs[row]}});
    }
    std::ranges::stable_sort(instances, {}, [](const auto& each) { return each.range.startNs; });
    return instances;
}

std::vector<CopiesOfRange> copiesByRange(const CopyIndex& index, const std::vector<RangeInstance>& instances,
                                         CopyGrouping grouping, std::optional<TimeRange> within) {
    std::vector<CopiesOfRange> result;
    for (const RangeInstance& instance : instances) {
        const TimeRange range = within ? instance.range.intersected(*within) : instance.range;
        if (range.isEmpty()) continue;
        result.push_back({instance, index.statistics({grouping, range, instance.process})});
    }
    return result;
}

std::vector<CopiesOfAllInstances> copiesOfAllInstances(const CopyIndex& index, const std::vector<CopiesOfRange>& ranges,
                                                       CopyGrouping grouping, std::optional<TimeRange> within) {
    struct Named {
        std::string name;
        bool isOneName = true;
        size_t instanceCount = 0;
        std::map<CopyGroup, Collected> groups;
    };
    std::map<std::string, Named> byPattern;
    for (const CopiesOfRange& each : ranges) {
        Named& named = byPattern[rangePattern(each.instance.name)];
        named.isOneName = named.instanceCount == 0 || (named.isOneName && named.name == each.instance.name);
        named.name = each.instance.name;
        ++named.instanceCount;
        for (const CopyStatistics& row : each.rows) named.groups[row.group].add(row);
        // The rate of a clipped copy is that of the whole copy.
        const TimeRange range = within ? each.instance.range.intersected(*within) : each.instance.range;
        std::vector<CopyGroup> groups;
        index.visitRated({grouping, range, each.instance.process}, groups, [&](std::span<const CopyPoint> copies) {
            for (const CopyPoint& copy : copies) {
                CopyGroup group = groups[copy.group];
                if (grouping == CopyGrouping::Size) group.sizeBucket = sizeBucketOf(copy.bytes);
                named.groups[group].rates.push_back(copy.gigabytesPerSecond);
            }
        });
    }
    std::vector<CopiesOfAllInstances> result;
    for (auto& [pattern, named] : byPattern) {
        const size_t first = result.size();
        for (auto& [group, of] : named.groups) {
            if (!of.rates.empty()) of.total.rates = ratesOf(of.rates);
            result.push_back({named.isOneName ? named.name : pattern, static_cast<int64_t>(named.instanceCount),
                              of.total, medianOfAll(of.counts, named.instanceCount),
                              medianOfAll(of.bytes, named.instanceCount), medianOfAll(of.busyNs, named.instanceCount)});
        }
        std::stable_sort(result.begin() + static_cast<ptrdiff_t>(first), result.end(),
                         [](const auto& a, const auto& b) { return a.total.bytes > b.total.bytes; });
    }
    return result;
}

}  // namespace lanescope
