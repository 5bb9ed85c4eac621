// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/load/sqlite/FileStrings.h"
#include "model/load/sqlite/LoadContext.h"

namespace lanescope {

/// What `LANESCOPE_NCCL_COMMUNICATORS` says about the communicators of each process.
class NcclCommunicators {
  public:
    void read(LoadContext& context, FileStrings& strings);
    /// Adds what is known of the communicator to the facts of a call of `globalPid`.
    void describe(int64_t globalPid, uint64_t communicator, NcclFacts& facts) const;

  private:
    struct Communicator {
        int32_t rank = -1, rankCount = -1;
        StringIndex name = 0;
    };
    std::map<std::pair<int64_t, uint64_t>, Communicator> communicators_;
};

/// A rank, root, peer or number of ranks; -1 for what none can be.
int32_t ncclRankFrom(int64_t value);

}  // namespace lanescope
