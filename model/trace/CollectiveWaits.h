// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/trace/Trace.h"
#include "model/values/LargeMemory.h"

namespace lanescope {

/// How long the kernels of collectives waited on their GPU for the last rank, as far as the trace
/// tells (`NcclFacts::waitedNs`). Immutable; any thread.
class CollectiveWaits {
  public:
    /// O(n log n) in the NCCL calls.
    explicit CollectiveWaits(const Trace& trace);

    /// Of the kernel of NCCL that this process starts then; 0 if it is not known. O(log n).
    int64_t ofKernel(uint32_t process, int64_t startNs) const;
    bool isEmpty() const { return waits_.empty(); }

  private:
    struct Wait {
        uint32_t process;
        int64_t startNs;
        int64_t waitedNs;
    };
    LargeVector<Wait> waits_;  ///< By process and start.
};

}  // namespace lanescope
