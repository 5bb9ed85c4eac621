// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/assemble/LaneBuilder.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Names of copies, memsets and graphs, like "HtoD 4.00 MiB", each once for each kind and size.
class WorkNames {
  public:
    /// Adds them to the strings of the trace. O(copies and graphs).
    explicit WorkNames(Trace& trace, const std::stop_token& stop = {});

    StringIndex ofMemcpy(int64_t bytes, MemcpyKind kind) const;
    StringIndex ofMemset(int64_t bytes) const;
    StringIndex ofGraph(int64_t graph) const;
    StringIndex ofWaiting() const { return waiting_; }  ///< Of a collective, for other ranks.

  private:
    MixedMap<uint64_t, StringIndex> copies_;
    MixedMap<int64_t, StringIndex> graphs_;
    StringIndex waiting_ = 0;
};

/// What GPUs did, before it becomes tracks.
struct GpuLanes {
    std::vector<std::vector<Lane>> ofStream;
    std::vector<uint32_t> droppedOfStream;  ///< Slices that found no lane.
    std::vector<Lane> busyOfGpu;            ///< When any of its streams worked.
};

/// Deals the work of the GPUs out to lanes of their streams; what a collective waits and what it
/// moves is told apart where the trace knows (`buildNcclWaits`). `busy` is what to call the slices
/// of `busyOfGpu`. Changes nothing of the trace. O(n). Stopped, it leaves work out.
GpuLanes collectGpuLanes(const Trace& trace, const WorkNames& names, StringIndex busy,
                         const std::stop_token& stop);

/// The projected NVTX ranges, as lanes of streams; not all if stopped. O(n).
std::vector<std::vector<Lane>> collectProjections(const Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
