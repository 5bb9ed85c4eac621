// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "model/compare/GpuWork.h"
#include "model/compare/RunSummary.h"

namespace lanescope::compare {

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

}  // namespace lanescope::compare
