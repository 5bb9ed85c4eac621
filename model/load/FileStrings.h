#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/load/LoadContext.h"

namespace lanescope {

/// The file's `StringIds`: its ids turned into ours.
class FileStrings {
  public:
    explicit FileStrings(StringTable& strings) : strings_(strings) {}

    void read(LoadContext& context);
    /// Nothing for an id that the file does not have. O(1).
    std::optional<StringIndex> find(int64_t id) const;
    StringIndex intern(std::string_view text) { return strings_.intern(text); }
    std::string_view text(StringIndex index) const { return strings_.at(index); }

  private:
    static constexpr StringIndex missing = 0xffffffff;

    StringTable& strings_;
    std::vector<StringIndex> dense_;  ///< By id: ids count up from 0 in all files seen.
    std::unordered_map<int64_t, StringIndex> sparse_;
};

}  // namespace lanescope
