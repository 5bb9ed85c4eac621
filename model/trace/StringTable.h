// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/trace/Column.h"

namespace lanescope {

/// Index into a `StringTable`. 0 is the empty string.
using StringIndex = uint32_t;

/// Every distinct string of a trace, once. Grows while loading, read by any thread afterwards; or
/// mapped, then it cannot grow.
class StringTable {
  public:
    /// Grows in `memory`, which must outlive it.
    explicit StringTable(LargeMemory* memory = nullptr);
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

    /// How many texts have a checksum together.
    static constexpr uint32_t blockSize = 256;

    /// Makes it a view of texts that follow each other and end where `ends` says. What lies outside
    /// of `text` reads as empty. `checks` has one for each block, or is for none.
    void map(std::string_view text, Column<uint64_t> ends, BlockChecks checks = {});
    /// Of all texts of a block.
    uint32_t checksumOfBlock(uint32_t block) const;
    /// Compares all blocks of a mapped table with their checksums.
    void checkAll() const;

  private:
    /// Where the number of a text stands or would stand.
    uint32_t& slotOf(std::string_view text);
    void grow();
    std::string_view kept(std::string_view text);
    std::string_view mapped(StringIndex index) const;

    std::vector<LargeVector<char>> texts_;  ///< Each keeps its place as long as it lives.
    LargeVector<std::string_view> strings_;
    LargeVector<uint32_t> slots_;  ///< By hash, a power of two: number of a string and 1, or 0.
    bool isMapped_ = false;
    std::string_view text_;
    Column<uint64_t> ends_;
    BlockChecks checks_;
};

}  // namespace lanescope
