// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace/Column.h"

namespace lanescope {

/// Index into a `StringTable`. 0 is the empty string.
using StringIndex = uint32_t;

/// Distinct strings of a trace. Grows while loading and is then read by any thread; a mapped table cannot grow.
class StringTable {
  public:
    /// Makes a table that grows in `memory`, which must outlive it.
    explicit StringTable(LargeMemory* memory = nullptr);
    StringTable(StringTable&&) = default;
    StringTable& operator=(StringTable&&) = default;

    /// Not for a mapped table.
    StringIndex intern(std::string_view text);
    /// Returns the string; empty for an invalid index.
    std::string_view at(StringIndex index) const;
    uint32_t size() const { return static_cast<uint32_t>(isMapped_ ? ends_.size() : strings_.size()); }

    /// Number of texts per checksum.
    static constexpr uint32_t blockSize = 256;

    /// Maps consecutive texts that end at `ends`. Parts outside of `text` read as empty. `checks`
    /// has one for each block, or is empty.
    void map(std::string_view text, Column<uint64_t> ends, BlockChecks checks = {});
    /// Returns the checksum of all texts of a block.
    uint32_t checksumOfBlock(uint32_t block) const;
    /// Checks all blocks of a mapped table.
    void checkAll() const;

  private:
    /// Returns the slot of a text, or the slot where it would be inserted.
    uint32_t& slotOf(std::string_view text);
    void grow();
    std::string_view kept(std::string_view text);
    std::string_view mapped(StringIndex index) const;

    std::vector<LargeVector<char>> texts_;  ///< Each one's address stays valid.
    LargeVector<std::string_view> strings_;
    LargeVector<uint32_t> slots_;  ///< Hash table with a power of two of slots: string number plus 1, or 0.
    bool isMapped_ = false;
    std::string_view text_;
    Column<uint64_t> ends_;
    BlockChecks checks_;
};

}  // namespace lanescope
