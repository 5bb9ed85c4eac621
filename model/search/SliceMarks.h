// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lanescope {

/// One bit for each slice of a lane, made to be asked whether any of a run is set.
class SliceMarks {
  public:
    SliceMarks() = default;
    explicit SliceMarks(uint32_t sliceCount);

    void set(uint32_t slice);
    bool contains(uint32_t slice) const;
    /// Whether a slice of `[first, end)` is set. About a word for 4096 slices of the run.
    bool any(uint32_t first, uint32_t end) const;
    bool isEmpty() const { return words_.empty(); }

  private:
    static constexpr uint32_t wordBits = 64;

    std::vector<uint64_t> words_;    ///< A bit a slice.
    std::vector<uint64_t> summary_;  ///< A bit a word that is not 0.
};

}  // namespace lanescope
