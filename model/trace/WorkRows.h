// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/trace/RowsByOwner.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What each process ran on each GPU: rows of the tables of GPU work, in their order. Made once for
/// all, so that what is asked of every process and GPU in turn takes no longer than the work does.
/// Immutable; any thread.
class WorkRows {
  public:
    /// O(streams log streams, and rows of GPU work); 4 bytes a row, in the trace's memory.
    explicit WorkRows(const Trace& trace);

    /// Of a process on a GPU, by their indices: the rows of one kind; none of what ran nothing.
    struct OfWorker {
        std::span<const uint32_t> kernels, memcpys, memsets, graphs;
    };
    /// O(log streams).
    OfWorker of(uint32_t process, uint32_t gpu) const;

  private:
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  ///< By process and GPU.
    RowsByOwner kernels_, memcpys_, memsets_, graphs_;           ///< By those numbers.
};

}  // namespace lanescope
