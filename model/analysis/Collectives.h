// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Bytes of the NCCL calls that one kernel carries out.
struct CollectiveBytes {
    int64_t bytes = 0;     ///< As this rank passed them; 0 if unknown.
    int64_t busBytes = 0;  ///< Bytes over each rank's link (`ncclTraffic`); 0 if unknown.
};

/// Assigns bytes to NCCL's kernels from the NVTX ranges that announce NCCL's calls. A kernel carries out the calls that
/// its thread began since the previous kernel. A group of calls thus belongs to the kernel that `ncclGroupEnd`
/// launches. The launching thread and time from NCCL's profiler plugin take precedence. Immutable; any thread.
class Collectives {
  public:
    /// `worldSize` is used if a communicator's own rank count is unknown. O(n log n) in NCCL's calls.
    Collectives(const Trace& trace, int64_t worldSize);

    /// Consumes the calls of each thread in order, for the kernels of one worker. Refers to the collectives.
    class Taker {
      public:
        explicit Taker(const Collectives& collectives) : collectives_(collectives) {}
        /// Must be called in the order of the launching calls of each thread. Amortised O(log threads).
        CollectiveBytes take(uint32_t thread, int64_t callStartNs);

      private:
        const Collectives& collectives_;
        std::map<uint32_t, size_t> taken_;  ///< By thread.
    };

  private:
    struct Call {
        int64_t startNs;
        CollectiveBytes amount;
    };
    std::vector<LargeVector<Call>> callsOf_;  ///< By thread, each sorted by start.
};

}  // namespace lanescope::analysis
