// SPDX-License-Identifier: Apache-2.0
#include "model/compare/counterDifferences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/numbers/Statistics.h"

namespace lanescope::compare {

using namespace analysis;

std::vector<StepDifference> stepDifferences(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    std::vector<StepDifference> steps(std::min(baseline.steps.size(), candidate.steps.size()));
    int64_t lostNs = 0;
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepSummary& before = baseline.steps[index];
        const StepSummary& after = candidate.steps[index];
        lostNs = saturatingSum(lostNs, after.wallNs - before.wallNs);
        steps[index] = {after.number, after.name, before.startNs, before.wallNs, after.startNs, after.wallNs, lostNs};
    }
    return steps;
}

namespace {

std::string ownerOf(const Trace& trace, const CounterSeries& counter) {
    std::string owner;
    if (counter.gpu < trace.gpus.size()) owner = fmt::format("GPU {}", trace.gpus[counter.gpu].id);
    if (counter.process < trace.processes.size()) {
        const Process& process = trace.processes[counter.process];
        if (!owner.empty()) owner += ", ";
        owner += process.rank ? fmt::format("rank {}", *process.rank) : process.name;
    }
    const auto add = [&owner](std::string part) {
        if (!owner.empty()) owner += ", ";
        owner += part;
    };
    if (counter.link >= 0) add(fmt::format("link {}", counter.link));
    if (counter.core >= 0) add(fmt::format("core {}", counter.core));
    if (!counter.device.empty()) add(counter.device);
    return owner;
}

CounterAmount amountIn(const Trace& trace, uint32_t counter, TimeRange range) {
    const CounterSeries& series = trace.counters[counter];
    CounterAmount amount;
    double weighted = 0;
    double heldNs = 0;
    // The first sample in force may begin before the range.
    uint32_t low = 0, high = series.size();
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (series.rangeOf(middle).endNs <= range.startNs) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t sample = low; sample < series.size(); ++sample) {
        if (series.timeNs(sample) >= range.endNs) break;
        const double value = series.value(sample);
        const TimeRange held = series.rangeOf(sample).intersected(range);
        if (std::isnan(value) || held.isEmpty()) continue;
        if (!amount.hasValue || value > amount.maximum) amount.highest = trace.sampleEvent(counter, sample);
        amount.maximum = amount.hasValue ? std::max(amount.maximum, value) : value;
        amount.minimum = amount.hasValue ? std::min(amount.minimum, value) : value;
        amount.hasValue = true;
        weighted += value * double(held.durationNs());
        heldNs += double(held.durationNs());
    }
    if (heldNs > 0) amount.mean = weighted / heldNs;
    return amount;
}

}  // namespace

double CounterDifference::changePercent() const {
    const bool isKnown = baseline.hasValue && candidate.hasValue && baseline.mean != 0;
    return isKnown ? 100 * (candidate.mean - baseline.mean) / std::abs(baseline.mean) : 0;
}

std::vector<CounterDifference> counterDifferences(const Trace& baseline, TimeRange baselineRange,
                                                  const Trace& candidate, TimeRange candidateRange) {
    std::vector<CounterDifference> differences;
    std::vector<bool> isTaken(candidate.counters.size());
    for (uint32_t index = 0; index < baseline.counters.size(); ++index) {
        const CounterSeries& series = baseline.counters[index];
        CounterDifference difference;
        difference.name = series.name;
        difference.owner = ownerOf(baseline, series);
        difference.unit = series.unit;
        for (uint32_t other = 0; other < candidate.counters.size(); ++other) {
            const CounterSeries& counterpart = candidate.counters[other];
            if (isTaken[other] || counterpart.name != series.name || counterpart.source != series.source ||
                counterpart.unit != series.unit || ownerOf(candidate, counterpart) != difference.owner)
                continue;
            isTaken[other] = true;
            difference.baseline = amountIn(baseline, index, baselineRange);
            difference.candidate = amountIn(candidate, other, candidateRange);
            break;
        }
        if (difference.baseline.hasValue && difference.candidate.hasValue) differences.push_back(std::move(difference));
    }
    std::stable_sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
        return std::abs(a.changePercent()) > std::abs(b.changePercent());
    });
    return differences;
}

}  // namespace lanescope::compare
