// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/compare/RunSummary.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::compare {

/// The threads that load data for each process: those of processes that it started, also by way of
/// others that are no other rank, which are called as those that load data or were seen in
/// PyTorch's loader; if there are none, its own threads of such a name. Immutable; any thread.
class LoaderThreads {
  public:
    /// O(processes, threads, stacks and states of threads).
    explicit LoaderThreads(const Trace& trace);

    /// In their order.
    const std::vector<uint32_t>& of(uint32_t process) const {
        return started_[process].empty() ? own_[process] : started_[process];
    }

  private:
    std::vector<std::vector<uint32_t>> started_, own_;  ///< By process.
};

/// What the data loaders of a process did in its steps, which are in order and do not overlap.
/// `states` and `loaders` are those of the trace. O(loaders * steps * log n) and the states in
/// them.
LoaderTimes loaderTimes(const StatesOfThreads& states, std::span<const uint32_t> loaders,
                        std::span<const TimeRange> steps);

}  // namespace lanescope::compare
