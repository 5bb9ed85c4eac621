#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "model/load/FileStrings.h"
#include "model/load/LoadContext.h"
#include "model/load/NcclCommunicators.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_OPERATIONS` says about rows of `NVTX_EVENTS`; in files without it, what the
/// names of NCCL's own NVTX ranges tell.
class NcclCalls {
  public:
    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators);
    bool isListed() const { return !calls_.empty(); }
    /// Adds row `nvtx` of the trace to `nccl` if row `fileRow` of the file is listed.
    void addListed(int64_t fileRow, uint32_t nvtx, NcclTable& nccl) const;
    /// Fills `nccl` from the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(const NvtxTable& nvtx, StringTable& strings, NcclTable& nccl);

  private:
    struct Call {
        StringIndex operation;
        int64_t bytes;
        uint64_t communicator;
        NcclFacts facts;
    };
    std::unordered_map<int64_t, Call> calls_;
};

/// "AllReduce" for "ncclAllReduce"; empty for names that are no communication ("ncclGroupStart").
std::string_view ncclOperation(std::string_view rangeName);

}  // namespace lanescope
