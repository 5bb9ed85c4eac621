#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/collector/Inserter.h"

namespace lanescope {

/// Writes `StringIds`: each text once, whichever process it came from.
class StringTableWriter {
  public:
    StringTableWriter(Database& database, Inserter::FirstError& error);

    /// The id of `text`, written down when it is new. Ids begin at 1. O(length).
    int64_t intern(std::string_view text);

  private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    Inserter insert_;
    std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids_;
};

}  // namespace lanescope
