// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/format/Inserter.h"
#include "model/format/tables/Names.h"

namespace lanescope::capture {

/// Writes `StringIds`: each text once, whichever process it came from.
class StringTableWriter {
  public:
    StringTableWriter(const Database& database, FirstError& error);

    /// The id of `text`, written down when it is new. Ids begin at 1. O(length).
    int64_t intern(std::string_view text);

  private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    Inserter<tables::Strings> rows_;
    std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

}  // namespace lanescope::capture
