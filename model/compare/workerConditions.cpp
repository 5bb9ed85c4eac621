// SPDX-License-Identifier: Apache-2.0
#include "model/compare/workerConditions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "model/compare/readingWeight.h"
#include "model/trace/counterReadings.h"
#include "model/trace/throttleReasons.h"

namespace lanescope::compare {

namespace {

/// Faster than any processor; a file may say anything.
constexpr double mostHz = 1e12;
/// More processors than any machine has.
constexpr double mostProcessors = 1e6;

/// `sink(sample, piece)` for each known value in force within `range`.
template <class Sink>
void forEachValueIn(const CounterSeries& series, TimeRange range, Sink sink) {
    for (uint32_t sample = firstHeldAfter(series, range.startNs);
         sample < series.size() && series.timeNs(sample) < range.endNs; ++sample) {
        const TimeRange piece = series.rangeOf(sample).intersected(range);
        if (piece.durationNs() > 0 && std::isfinite(series.value(sample))) sink(sample, piece);
    }
}

uint64_t slowingIn(double value) {
    return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) & slowingReasons() : 0;
}

bool isClock(double hz) {
    return hz > 0 && hz < mostHz;
}

struct Mean {
    int64_t ns = 0;
    double weighted = 0, weights = 0;
};

/// Where such reasons held the clocks down for longest, without what ran faster than their mean.
void findLongest(const CounterSeries& reasons, const CounterSeries& clock,
                 std::span<const TimeRange> steps, ClockState& state) {
    // Clocks jitter, and one reading a little above the mean ends nothing.
    const double mostAtThatMean = 1.01 * static_cast<double>(state.smClockHz);
    TimeRange current;
    for (const TimeRange& step : steps)
        forEachValueIn(reasons, step, [&](uint32_t sample, TimeRange held) {
            if (slowingIn(reasons.value(sample)) != state.reasons) return;
            forEachValueIn(clock, held, [&](uint32_t reading, TimeRange piece) {
                const double hz = clock.value(reading);
                if (!isClock(hz) || hz > mostAtThatMean) return;
                if (piece.startNs != current.endNs) current.startNs = piece.startNs;
                current.endNs = piece.endNs;
                if (current.durationNs() <= state.longestNs) return;
                state.longestStartNs = current.startNs;
                state.longestNs = current.durationNs();
            });
        });
}

void addClocks(const CounterSeries& reasons, const CounterSeries* clock,
               std::span<const TimeRange> steps, WorkerSummary& worker) {
    std::map<uint64_t, Mean> means;
    for (const TimeRange& step : steps)
        forEachValueIn(reasons, step, [&](uint32_t sample, TimeRange held) {
            Mean& mean = means[slowingIn(reasons.value(sample))];
            mean.ns += held.durationNs();
            if (clock == nullptr) return;
            forEachValueIn(*clock, held, [&](uint32_t reading, TimeRange) {
                const double hz = clock->value(reading);
                const double weight = isClock(hz) ? weightWithin(*clock, reading, held) : 0;
                mean.weighted += hz * weight;
                mean.weights += weight;
            });
        });
    for (const auto& [flags, mean] : means)
        worker.clocks.push_back(
            {flags, mean.ns, mean.weights > 0 ? std::llround(mean.weighted / mean.weights) : 0});
    if (clock != nullptr)
        for (ClockState& state : worker.clocks)
            if (state.reasons != 0 && state.smClockHz > 0)
                findLongest(reasons, *clock, steps, state);
}

/// Nothing where less than half of the steps is known.
std::optional<int64_t> heldBackIn(const CounterSeries& heldBack, std::span<const TimeRange> steps) {
    double sumNs = 0;
    int64_t knownNs = 0, allNs = 0;
    for (const TimeRange& step : steps) {
        allNs += step.durationNs();
        forEachValueIn(heldBack, step, [&](uint32_t sample, TimeRange piece) {
            knownNs += piece.durationNs();
            sumNs += std::clamp(heldBack.value(sample), 0.0, mostProcessors) *
                     static_cast<double>(piece.durationNs());
        });
    }
    constexpr double mostNs = 9e17;
    if (knownNs == 0 || knownNs < allNs / 2) return std::nullopt;
    return std::llround(std::min(sumNs, mostNs));
}

}  // namespace

MachineCounters::MachineCounters(const Trace& trace) {
    for (const CounterSeries& each : trace.counters) {
        if (each.process != noIndex || each.isEmpty()) continue;
        const auto [known, isNew] = counters_.try_emplace({each.gpu, each.key}, &each);
        if (!isNew) known->second = nullptr;
    }
}

const CounterSeries* MachineCounters::find(std::string_view key, uint32_t gpu) const {
    const auto found = counters_.find({gpu, key});
    return found == counters_.end() ? nullptr : found->second;
}

void addConditions(const MachineCounters& counters, uint32_t gpu, std::span<const TimeRange> steps,
                   WorkerSummary& worker) {
    const CounterSeries* clock = counters.find("clock.sm", gpu);
    if (clock != nullptr && isClock(clock->maximum()))
        worker.highestSmClockHz = std::llround(clock->maximum());
    if (const CounterSeries* reasons = counters.find("throttle.reasons", gpu))
        addClocks(*reasons, clock, steps, worker);
    if (const CounterSeries* heldBack = counters.find("cgroup.cpu.throttled", noIndex))
        worker.heldBackNs = heldBackIn(*heldBack, steps);
}

StepPauses pausesBetween(std::span<const TimeRange> steps, const LargeVector<GpuWork>& work) {
    StepPauses pauses;
    int64_t mostIdleNs = 0, busyUntilNs = INT64_MIN;
    auto next = work.begin();
    for (size_t step = 1; step < steps.size(); ++step) {
        const TimeRange pause{steps[step - 1].endNs, steps[step].startNs};
        if (pause.durationNs() <= 0) continue;
        int64_t idleNs = 0, fromNs = pause.startNs;
        for (; next != work.end() && next->startNs < pause.endNs; ++next) {
            fromNs = std::max(fromNs, busyUntilNs);
            idleNs += std::max<int64_t>(0, next->startNs - fromNs);
            busyUntilNs = std::max(busyUntilNs, next->endNs);
        }
        idleNs += std::max<int64_t>(0, pause.endNs - std::max(fromNs, busyUntilNs));
        ++pauses.count;
        pauses.ns += pause.durationNs();
        pauses.idleNs += idleNs;
        if (idleNs <= mostIdleNs) continue;
        mostIdleNs = idleNs;
        pauses.longestStartNs = pause.startNs;
        pauses.longestNs = pause.durationNs();
    }
    return pauses;
}

int64_t cpuLimitOf(const Trace& trace) {
    const CounterSeries* limit = MachineCounters(trace).find("cgroup.cpu.limit", noIndex);
    if (limit == nullptr || !limit->hasValue()) return 0;
    // It may be changed while the run goes on; the tightest is what a run may suffer from.
    return std::llround(std::clamp(limit->minimum(), 0.0, 100 * mostProcessors));
}

}  // namespace lanescope::compare
