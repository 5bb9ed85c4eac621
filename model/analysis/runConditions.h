// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"
#include "model/trace/CounterSeries.h"

namespace lanescope::analysis {

/// Returns the weight of value number `sample` in the mean over `range`: the number of its readings there, including
/// those that found it unchanged. If the reading interval is unknown, its duration. The time of a change between two
/// readings is unknown, and a clock that rises with the first kernel would count as low up to the next reading. O(1).
inline double weightWithin(const CounterSeries& series, uint32_t sample, TimeRange range) {
    const TimeRange held = series.rangeOf(sample);
    if (series.intervalNs <= 0) return static_cast<double>(held.intersected(range).durationNs());
    const auto everyNs = static_cast<double>(series.intervalNs);
    const auto since = [&](int64_t ns) {
        return (static_cast<double>(ns) - static_cast<double>(held.startNs)) / everyNs;
    };
    // Readings are numbered from 0; the next value came with the next reading.
    const double first = std::max(1.0, std::ceil(since(range.startNs)));
    const double end = std::ceil(std::min(since(range.endNs), since(held.endNs) - 0.5));
    return (range.contains(held.startNs) ? 1 : 0) + std::max(0.0, end - first);
}

/// The counters of a trace about a whole GPU, or the machine. Refers to the trace.
class MachineCounters {
  public:
    /// O(counters log counters).
    explicit MachineCounters(const Trace& trace);

    /// Returns the counter of that key about a GPU, or the machine (`noIndex`). Null if there is
    /// none or if there are several, such as of several hosts. O(log counters).
    const CounterSeries* counter(std::string_view key, uint32_t gpu) const;

  private:
    std::map<std::pair<uint32_t, std::string_view>, const CounterSeries*> counters_;
};

/// Adds readings of samplers in the steps, which are in order and do not overlap: clock of the GPU, throttle reasons,
/// used memory, and processor time withheld by a limit. O(values in the steps + steps * log n).
void addConditions(const MachineCounters& counters, uint32_t gpu, std::span<const TimeRange> steps,
                   WorkerSummary& worker);

/// Returns the time between steps, and the part of it in which none of `work`, sorted by start, ran. O(work + steps).
StepPauses pausesBetween(std::span<const TimeRange> steps, const WorkList& work);

/// Returns the processor time that the run's control group allows, in percent of a core; 0 if unlimited or unknown.
int64_t cpuLimitOf(const Trace& trace);

/// Returns the GPUs that several processes used, recorded or not. O(streams + uses).
std::set<uint32_t> sharedGpusOf(const Trace& trace);

/// Returns the facts of a trace. O(properties + events), linear.
SummaryFacts factsOf(const Trace& trace);
/// Returns the number of processes that work on a GPU, or of ranks if a process reports more. O(streams + processes).
int64_t worldSizeOf(const Trace& trace);
/// Returns a trace's warnings about losses and corruption: `SummaryFacts::healthWarnings`. O(n log n) in the notes.
std::vector<HealthNote> warningsOf(const Trace& trace);

/// Sets the program that was compiled again after the first step began, by most time between steps and in late
/// launches, if that is half of the idle pauses. O(ranges * log(steps)).
void addRecompilation(const Trace& trace, uint32_t process, WorkerSummary& worker);

/// Returns the order in steps, which are sorted and do not overlap. O(work).
StreamOrder streamOrder(const Trace& trace, const WorkList& work, std::span<const TimeRange> steps);

}  // namespace lanescope::analysis
