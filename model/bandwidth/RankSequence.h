// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lanescope {

/// A permutation of the numbers below n, kept so that of any stretch of it the k-th least number is
/// found without looking at the stretch: a wavelet matrix, a level of n bits for each bit of the
/// numbers. Some 1.5 * log2(n) bits a number. Immutable; any thread.
class RankSequence {
  public:
    RankSequence() = default;
    /// `ranks` holds each number below its size once. O(n log n).
    explicit RankSequence(std::vector<uint32_t> ranks);

    size_t size() const { return size_; }
    /// The number at a position. O(log n).
    uint32_t at(size_t position) const;
    /// The `k`-th least, from 0, of the numbers from position `first` to before `last` without
    /// those of `left`, which lie among them and are sorted. There must be more than `k`.
    /// O(log n * log left).
    uint32_t select(size_t first, size_t last, size_t k, std::span<const uint32_t> left = {}) const;

  private:
    /// One bit of each number, in the order in which the levels above sorted them.
    struct Level {
        std::vector<uint64_t> bits;
        std::vector<uint32_t> onesBefore;  ///< Of each word.
        uint32_t zeros = 0;

        bool bit(size_t position) const { return (bits[position / 64] >> (position % 64)) & 1; }
        size_t ones(size_t position) const;
    };
    std::vector<Level> levels_;  ///< From the highest bit down.
    size_t size_ = 0;
};

}  // namespace lanescope
