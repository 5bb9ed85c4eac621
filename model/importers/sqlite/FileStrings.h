// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/importers/sqlite/LoadContext.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// The mapping from `StringIds` of the file to strings of the trace.
class FileStrings {
  public:
    explicit FileStrings(TraceBuilder& builder) : builder_(builder), dense_(builder.memory()) {}

    void read(LoadContext& context);
    /// Returns nullopt for an unknown id. O(1).
    std::optional<StringIndex> find(int64_t id) const;
    StringIndex intern(std::string_view text) { return builder_.intern(text); }
    std::string_view text(StringIndex index) const { return builder_.text(index); }

  private:
    static constexpr StringIndex missing = 0xffffffff;

    TraceBuilder& builder_;
    LargeVector<StringIndex> dense_;  ///< By id. Ids count up from 0 in all known files.
    MixedMap<int64_t, StringIndex> sparse_;
};

/// Returns the name without the version of its entry point: "cudaLaunchKernel" for "cudaLaunchKernel_ptsz_v7000". Names
/// such as "cuMemAlloc_v2", whose number is part of the API, are unchanged.
std::string_view plainApiName(std::string_view entryPoint);

}  // namespace lanescope
