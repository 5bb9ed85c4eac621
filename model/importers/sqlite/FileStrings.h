// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/importers/sqlite/LoadContext.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// The file's `StringIds`: its ids turned into ours.
class FileStrings {
  public:
    explicit FileStrings(TraceBuilder& builder) : builder_(builder), dense_(builder.memory()) {}

    void read(LoadContext& context);
    /// Nothing for an id that the file does not have. O(1).
    std::optional<StringIndex> find(int64_t id) const;
    StringIndex intern(std::string_view text) { return builder_.intern(text); }
    std::string_view text(StringIndex index) const { return builder_.text(index); }

  private:
    static constexpr StringIndex missing = 0xffffffff;

    TraceBuilder& builder_;
    LargeVector<StringIndex> dense_;  ///< By id: ids count up from 0 in all files seen.
    MixedMap<int64_t, StringIndex> sparse_;
};

/// "cudaLaunchKernel" for "cudaLaunchKernel_ptsz_v7000": the name without the version of its entry
/// point. Names like "cuMemAlloc_v2", whose number is part of the API, stay as they are.
std::string_view plainApiName(std::string_view entryPoint);

}  // namespace lanescope
