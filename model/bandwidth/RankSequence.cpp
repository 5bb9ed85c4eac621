// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/RankSequence.h"

#include <algorithm>
#include <bit>

namespace lanescope {

size_t RankSequence::Level::ones(size_t position) const {
    const size_t word = position / 64, within = position % 64;
    const uint64_t below = within == 0 ? 0 : bits[word] << (64 - within);
    return onesBefore[word] + static_cast<size_t>(std::popcount(below));
}

RankSequence::RankSequence(std::vector<uint32_t> ranks) : size_(ranks.size()) {
    const int bitCount = size_ > 1 ? std::bit_width(size_ - 1) : 0;
    std::vector<uint32_t> sorted(ranks.size());
    for (int shift = bitCount - 1; shift >= 0; --shift) {
        Level level;
        // A word more, so that the end is a position like any other.
        level.bits.assign(size_ / 64 + 1, 0);
        level.onesBefore.reserve(level.bits.size());
        uint32_t ones = 0;
        for (size_t position = 0; position < size_; ++position) {
            if (position % 64 == 0) level.onesBefore.push_back(ones);
            const uint32_t bit = (ranks[position] >> shift) & 1;
            level.bits[position / 64] |= uint64_t{bit} << (position % 64);
            ones += bit;
        }
        if (size_ % 64 == 0) level.onesBefore.push_back(ones);
        level.zeros = static_cast<uint32_t>(size_) - ones;
        size_t zero = 0, one = level.zeros;
        for (const uint32_t rank : ranks)
            sorted[((rank >> shift) & 1) != 0 ? one++ : zero++] = rank;
        ranks.swap(sorted);
        levels_.push_back(std::move(level));
    }
}

uint32_t RankSequence::at(size_t position) const {
    uint32_t number = 0;
    for (const Level& level : levels_) {
        const size_t ones = level.ones(position);
        const bool bit = level.bit(position);
        number = (number << 1) | (bit ? 1U : 0U);
        position = bit ? level.zeros + ones : position - ones;
    }
    return number;
}

uint32_t RankSequence::select(size_t first, size_t last, size_t k,
                              std::span<const uint32_t> left) const {
    uint32_t number = 0;
    auto shift = static_cast<int>(levels_.size());
    for (const Level& level : levels_) {
        --shift;
        const size_t firstOnes = level.ones(first), lastOnes = level.ones(last);
        // Those of `left` that are still meant agree in all higher bits.
        const auto ones = std::partition_point(left.begin(), left.end(), [shift](uint32_t each) {
            return ((each >> shift) & 1) == 0;
        });
        const auto leftZeros = static_cast<size_t>(ones - left.begin());
        const size_t zeros = (last - first) - (lastOnes - firstOnes) - leftZeros;
        const bool isOne = k >= zeros;
        number = (number << 1) | (isOne ? 1U : 0U);
        if (isOne) {
            k -= zeros;
            first = level.zeros + firstOnes;
            last = level.zeros + lastOnes;
            left = left.subspan(leftZeros);
        } else {
            first -= firstOnes;
            last -= lastOnes;
            left = left.first(leftZeros);
        }
    }
    return number;
}

}  // namespace lanescope
