// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/trace/CounterSeries.h"

namespace lanescope::analysis {

/// How much value number `sample` weighs in the mean over `range`: how often it was read there,
/// the readings that found it unchanged and were not kept included; for how long it held where
/// nobody says how often it was read. When between two readings a clock changed is not known, and
/// one that goes up with the first kernel would count as low up to the next reading. O(1).
inline double weightWithin(const CounterSeries& series, uint32_t sample, TimeRange range) {
    const TimeRange held = series.rangeOf(sample);
    if (series.intervalNs <= 0) return static_cast<double>(held.intersected(range).durationNs());
    const auto everyNs = static_cast<double>(series.intervalNs);
    const auto since = [&](int64_t ns) {
        return (static_cast<double>(ns) - static_cast<double>(held.startNs)) / everyNs;
    };
    // Readings have numbers from 0 on; the next value was the one that came next.
    const double first = std::max(1.0, std::ceil(since(range.startNs)));
    const double end = std::ceil(std::min(since(range.endNs), since(held.endNs) - 0.5));
    return (range.contains(held.startNs) ? 1 : 0) + std::max(0.0, end - first);
}

/// The counters of a trace that are about a whole GPU, or the machine. Refers to the trace.
class MachineCounters {
  public:
    /// O(counters log counters).
    explicit MachineCounters(const Trace& trace);

    /// The one of that key about a GPU, or the machine (`noIndex`); null without one. Of several,
    /// as of several hosts, nobody knows which is meant. O(log counters).
    const CounterSeries* find(std::string_view key, uint32_t gpu) const;

  private:
    std::map<std::pair<uint32_t, std::string_view>, const CounterSeries*> counters_;
};

/// What samplers tell of the time of the steps, which are in order and do not overlap: how fast the
/// GPU ran and what held its clocks down, and for how long a limit held processors back. O(values
/// in the steps + steps * log n).
void addConditions(const MachineCounters& counters, uint32_t gpu, std::span<const TimeRange> steps,
                   WorkerSummary& worker);

/// The time between steps, and in how much of it none of `work`, which is sorted by start, ran.
/// O(work + steps).
StepPauses pausesBetween(std::span<const TimeRange> steps, const LargeVector<GpuWork>& work);

/// How much processor time the control group of the run is allowed, in percent of one core; 0 if
/// that is not limited or not known.
int64_t cpuLimitOf(const Trace& trace);

/// What a trace says of itself. O(properties + events), linear.
SummaryFacts factsOf(const Trace& trace);
/// Processes that work on a GPU, or ranks of the job if any process knows of more.
/// O(streams + processes).
int64_t worldSizeOf(const Trace& trace);
/// What the health of a trace says of losses and damage, in its words:
/// `SummaryFacts::healthWarnings`. O(n log n) in the notes.
std::vector<HealthNote> warningsOf(const Trace& trace);

}  // namespace lanescope::analysis
