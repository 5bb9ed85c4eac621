#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lanescope {

/// Index into a `StringTable`. 0 is the empty string.
using StringIndex = uint32_t;

/// Every distinct string of a trace, once. Grows while loading, read by any thread afterwards.
class StringTable {
  public:
    StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;
    StringTable(StringTable&&) = default;
    StringTable& operator=(StringTable&&) = default;

    StringIndex intern(std::string_view text);
    /// Empty for an index that was never given out.
    std::string_view at(StringIndex index) const;
    uint32_t size() const { return static_cast<uint32_t>(strings_.size()); }

  private:
    std::deque<std::string> strings_;  // a deque, so that the keys below stay valid as it grows
    std::unordered_map<std::string_view, StringIndex> indexOf_;
};

}  // namespace lanescope
