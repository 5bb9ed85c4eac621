// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/load/sqlite/FileStrings.h"
#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/NcclCommunicators.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_OPERATIONS` says about rows of `NVTX_EVENTS`; in files without it, what the
/// names of NCCL's own NVTX ranges tell.
class NcclCalls {
  public:
    /// Keeps what it reads in `memory`, if there is one.
    explicit NcclCalls(LargeMemory* memory) : calls_(memory) {}

    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators);
    bool isListed() const { return !calls_.empty(); }
    /// Says that `range` is a call of NCCL if row `fileRow` of the file is listed.
    void addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const;
    /// Finds the calls by the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(TraceBuilder& builder);

  private:
    struct Call {
        int64_t fileRow;
        NcclRow says;
    };
    LargeVector<Call> calls_;  ///< By row, of equal ones as they were read.
};

}  // namespace lanescope
