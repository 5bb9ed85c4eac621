// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Names of copies, memsets and graphs, like "HtoD 4.00 MiB", one for each kind and size.
class WorkNames {
  public:
    /// Adds the names to the strings of the trace. O(copies and graphs).
    explicit WorkNames(Trace& trace, const std::stop_token& stop = {});

    StringIndex ofMemcpy(int64_t bytes, MemcpyKind kind) const;
    StringIndex ofMemset(int64_t bytes) const;
    StringIndex ofGraph(int64_t graph) const;
    StringIndex ofWaiting() const { return waiting_; }  ///< Wait of a collective.

  private:
    MixedMap<uint64_t, StringIndex> copies_;
    MixedMap<int64_t, StringIndex> graphs_;
    StringIndex waiting_ = 0;
};

struct GpuLanes {
    std::vector<std::vector<Lane>> ofStream;
    std::vector<uint32_t> droppedOfStream;  ///< Slices that found no lane.
    std::vector<Lane> busyOfGpu;            ///< Times at which any stream of the GPU worked.
};

/// Distributes GPU work over the lanes of its streams. Separates the waiting of a collective from
/// its transfer if the trace contains both (`buildNcclWaits`). `busy` names the slices of
/// `busyOfGpu`. Does not change the trace. O(n). If stopped, the result is incomplete.
GpuLanes collectGpuLanes(const Trace& trace, const WorkNames& names, StringIndex busy, const std::stop_token& stop);

/// Returns the projected NVTX ranges as lanes of streams. Incomplete if stopped. O(n).
std::vector<std::vector<Lane>> collectProjections(const Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
