// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// What NCCL was asked to do by the calls that one kernel carries out.
struct CollectiveBytes {
    int64_t bytes = 0;     ///< As this rank passed them; 0 if unknown.
    int64_t busBytes = 0;  ///< What each rank's link carries (`ncclTraffic`); 0 if unknown.
};

/// Finds the bytes of NCCL's kernels in the NVTX ranges that NCCL announces its calls with: a
/// kernel carries out the calls that its thread began since the kernel before it, so that a group
/// of calls counts with the kernel that `ncclGroupEnd` launches. Where NCCL's profiler plugin told
/// which thread launched the kernel and when, that counts instead. Immutable; any thread.
class Collectives {
  public:
    /// `worldSize` counts where a communicator's own number of ranks is not known. O(n log n) in
    /// the calls of NCCL.
    Collectives(const Trace& trace, int64_t worldSize);

    /// Takes the calls of threads one after the other, for the kernels of one worker. Refers to the
    /// collectives.
    class Taker {
      public:
        explicit Taker(const Collectives& collectives) : collectives_(collectives) {}
        /// To be asked in the order of the launching calls of each thread. Amortised O(log
        /// threads).
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
    std::vector<LargeVector<Call>> callsOf_;  ///< By thread, by start.
};

/// "AllReduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL"; the whole name if it is of no known
/// form.
std::string collectiveName(std::string_view kernelName);

}  // namespace lanescope::analysis
