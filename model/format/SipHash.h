// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope {

/// SipHash-2-4 with 128 bits: a hash that cannot be computed without its key. One thread.
class SipHash {
  public:
    using Key = std::array<std::byte, 16>;
    using Value = std::array<std::byte, 16>;

    explicit SipHash(const Key& key);
    void add(std::span<const std::byte> bytes);
    /// Returns the hash of all bytes. Call once, at the end.
    Value value();

  private:
    void addWord(uint64_t word);
    void mix(int rounds);

    uint64_t v0_, v1_, v2_, v3_;
    uint64_t word_ = 0;   ///< Bytes that are not yet a whole word.
    uint64_t count_ = 0;  ///< All bytes.
};

}  // namespace lanescope
