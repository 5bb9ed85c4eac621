// SPDX-License-Identifier: Apache-2.0
#include "model/search/SliceMarks.h"

#include <algorithm>

namespace lanescope {

namespace {

/// Whether a bit of `[first, end)` is set, looked at word by word.
bool anyBit(const std::vector<uint64_t>& words, size_t first, size_t end) {
    constexpr size_t bits = 64;
    while (first < end) {
        const size_t word = first / bits;
        const size_t from = first % bits;
        const size_t count = std::min(bits - from, end - first);
        const uint64_t mask = (count == bits ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
        if ((words[word] & mask) != 0) return true;
        first += count;
    }
    return false;
}

}  // namespace

SliceMarks::SliceMarks(uint32_t sliceCount)
    : words_((size_t{sliceCount} + wordBits - 1) / wordBits),
      summary_((words_.size() + wordBits - 1) / wordBits) {}

void SliceMarks::set(uint32_t slice) {
    const size_t word = slice / wordBits;
    words_[word] |= uint64_t{1} << slice % wordBits;
    summary_[word / wordBits] |= uint64_t{1} << word % wordBits;
}

bool SliceMarks::contains(uint32_t slice) const {
    const size_t word = slice / wordBits;
    return word < words_.size() && (words_[word] >> slice % wordBits & 1) != 0;
}

bool SliceMarks::any(uint32_t first, uint32_t end) const {
    end = static_cast<uint32_t>(std::min<size_t>(end, words_.size() * wordBits));
    if (first >= end) return false;
    // Whole words are asked by their summary, the slices before and behind them one by one.
    const size_t firstWord = (size_t{first} + wordBits - 1) / wordBits;
    const size_t endWord = end / wordBits;
    if (firstWord >= endWord) return anyBit(words_, first, end);
    return anyBit(words_, first, firstWord * wordBits) || anyBit(summary_, firstWord, endWord) ||
           anyBit(words_, endWord * wordBits, end);
}

}  // namespace lanescope
