// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "model/load/json/JsonCursor.h"

namespace lanescope {

/// The texts of a piece of a file, each once, by number; 0 is the empty one. They are views of the
/// piece where nothing was escaped in them, so it must stay. One thread.
class ChunkStrings {
  public:
    ChunkStrings() : ChunkStrings(256) {}

    /// The text as it stands in the piece. O(length).
    uint32_t add(std::string_view text);
    /// What the value says.
    uint32_t add(const JsonValue& value);
    std::string_view at(uint32_t index) const { return texts_[index]; }
    /// All, by number.
    const std::vector<std::string_view>& all() const { return texts_; }
    /// A text that stays as long as this does.
    std::string_view kept(const JsonValue& value);

  private:
    explicit ChunkStrings(size_t slots) : slots_(slots) { add(std::string_view()); }
    void grow();

    std::vector<std::string_view> texts_;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;  ///< Number of a text and 1, or 0; as many as a power of two.
    std::deque<std::string> unescaped_;
};

}  // namespace lanescope
