// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope::analysis {

/// At which line of Python the work of each contributor was launched. Refers to the trace. One
/// thread.
class WorkPlaces {
  public:
    /// `ownPlaces` is the function's of that name, of the trace; without it nothing is known.
    WorkPlaces(const Trace& trace, std::span<const uint32_t> ownPlaces);

    /// O(1), of a kernel of a CUDA graph O(log n).
    void add(const GpuWork& work);
    /// The line of most of these calls, and how many of them it made; nothing if it is less than a
    /// fifth. O(calls).
    std::pair<std::string, int64_t> ofMost(std::span<const uint32_t> calls) const;

    /// "launched at train.py:212 in GPT.forward" for each contributor: where more than half of what
    /// it takes of the steps (`exposedNs`) comes from, even if all that is hidden of it came from
    /// there, too. "called from" it, of a thread without Python as that of autograd;
    /// "captured at" it, of a CUDA graph. Empty where no line has as much. O(contributors * lines).
    std::vector<std::string> texts(std::span<const Contributor> contributors) const;

  private:
    std::optional<uint32_t> keyOf(const PythonPlace& place) const;
    std::string textOf(uint32_t key) const;

    const Trace& trace_;
    std::span<const uint32_t> frames_;  ///< By stack: the frame that stands for its line.
    /// By contributor and place, which is a frame and how it is meant.
    std::unordered_map<uint64_t, int64_t> launchedNs_;
};

/// The calls that launched the kernels that begin in `windows` (sorted, without overlaps). `work`
/// is by start. Nothing where the trace has no calls. O(n log n) in the kernels.
LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows,
                        std::span<const GpuWork> work, const WorkPlaces& places);

}  // namespace lanescope::analysis
