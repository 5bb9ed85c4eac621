// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/trace/Column.h"

namespace lanescope {

/// Index into a `StringTable`. 0 is the empty string.
using StringIndex = uint32_t;

/// Every distinct string of a trace, once. Grows while loading, read by any thread afterwards; or
/// mapped, then it cannot grow.
class StringTable {
  public:
    StringTable();
    StringTable(const StringTable&) = delete;
    StringTable& operator=(const StringTable&) = delete;
    StringTable(StringTable&&) = default;
    StringTable& operator=(StringTable&&) = default;

    /// Not for a mapped table.
    StringIndex intern(std::string_view text);
    /// Empty for an index that was never given out.
    std::string_view at(StringIndex index) const;
    uint32_t size() const {
        return static_cast<uint32_t>(isMapped_ ? ends_.size() : strings_.size());
    }

    /// Makes it a view of texts that follow each other and end where `ends` says. What lies outside
    /// of `text` reads as empty.
    void map(std::string_view text, Column<uint64_t> ends);

  private:
    std::deque<std::string> strings_;  // a deque, so that the keys below stay valid as it grows
    std::unordered_map<std::string_view, StringIndex> indexOf_;
    bool isMapped_ = false;
    std::string_view text_;
    Column<uint64_t> ends_;
};

}  // namespace lanescope
