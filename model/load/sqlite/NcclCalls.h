// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/load/sqlite/FileStrings.h"
#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/NcclCommunicators.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_OPERATIONS` says about rows of `NVTX_EVENTS`; in files without it, what the
/// names of NCCL's own NVTX ranges tell.
class NcclCalls {
  public:
    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators);
    bool isListed() const { return !calls_.empty(); }
    /// Says that `range` is a call of NCCL if row `fileRow` of the file is listed.
    void addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const;
    /// Finds the calls by the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(TraceBuilder& builder);

  private:
    std::unordered_map<int64_t, NcclRow> calls_;
};

}  // namespace lanescope
