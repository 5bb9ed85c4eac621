// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

/// The native stacks of a table of Nsight Systems, each a row of `Trace::stacks` for each frame;
/// those that begin alike share their beginning. The file of a frame is its library.
class CallchainStacks {
  public:
    /// Reads the table. O(rows), which it keeps meanwhile.
    CallchainStacks(LoadContext& context, FileDirectory& directory,
                    const tables::Callchains& table);

    /// The stack of that number; `noIndex` if there is none.
    uint32_t of(int64_t id) const {
        const auto found = stacks_.find(id);
        return found == stacks_.end() ? noIndex : found->second;
    }

  private:
    std::unordered_map<int64_t, uint32_t> stacks_;
};

}  // namespace lanescope
