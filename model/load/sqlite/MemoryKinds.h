// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/Memory.h"
#include "model/load/sqlite/LoadContext.h"
#include "model/values/MixedMap.h"

namespace lanescope {

/// Turns the numbers a file uses for memcpy and memory kinds into ours. Files say what their
/// numbers mean in `ENUM_*` tables; where they do not, the copies themselves show whose numbers
/// they are.
class MemoryKinds {
  public:
    void read(LoadContext& context);
    MemcpyKind memcpyKind(int64_t number) const;
    MemoryKind memoryKind(int64_t number) const;

  private:
    MixedMap<int64_t, MemcpyKind> memcpyKinds_;  ///< Empty: the usual numbers.
    MixedMap<int64_t, MemoryKind> memoryKinds_;
    bool countsFromOne_ = false;  ///< CUPTI's own numbers: 0 is unknown, 1 is pageable.
};

}  // namespace lanescope
