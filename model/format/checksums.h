// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/format/Result.h"

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

/// 64-bit FNV-1a hash. Files store its values, so it must not change.
class Fnv1a {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) addByte(static_cast<unsigned char>(byte));
    }
    /// Adds the bytes of a number, least significant first.
    void add(uint64_t number) {
        for (int byte = 0; byte < 8; ++byte, number >>= 8) addByte(number & 0xff);
    }
    uint64_t value() const { return value_; }

  private:
    void addByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// Returns zlib's CRC-32 of `bytes` after others whose checksum is `before`. It detects every
/// single changed bit, and other changes all but once in 2^32. About 1 GB/s.
uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t before = 0);

enum class SealState : uint8_t {
    None,     ///< The file has no seal, or data written after the last page replaced it.
    Whole,    ///< No program has written to the file since it was sealed.
    Changed,  ///< A program has written to the file; checksums of unchanged pages are still valid.
    Broken,   ///< The seal is corrupt or was overwritten.
};

/// Seal after the last page of a finished trace: a checksum of each page, and SQLite's change counter, which every
/// writer increments. SQLite treats these bytes as free space. `FORMAT.md` has the layout.
struct PageSeal {
    SealState state = SealState::None;
    uint32_t pageBytes = 0;
    uint32_t changeCounter = 0;
    std::vector<uint32_t> checksums = {};  ///< One per page; empty unless the state is `Whole` or `Changed`.

    /// Returns true if page `number` (from 0) is unchanged. A page without a checksum counts as
    /// unchanged, unless the file was changed and the page was added.
    bool isAsSealed(size_t number, std::span<const std::byte> page) const;
};

/// Seals a file that no program has open, again if it was sealed before. Fails if the file cannot be read or written,
/// or is no SQLite file with pages of a valid size; the file stays unchanged then. O(bytes).
Result<void> sealPages(const std::filesystem::path& path);

/// Reads bytes of a file from an offset on; returns false on failure.
using ReadAt = std::function<bool(std::span<std::byte> to, uint64_t at)>;

/// Returns the seal of an SQLite file of that size; none if it cannot be read. O(pages).
PageSeal readSeal(uint64_t fileBytes, const ReadAt& read);

/// Returns SQLite's change counter, which every writer increments, from the first bytes of a file.
uint32_t changeCounterIn(std::span<const std::byte> header);

}  // namespace lanescope
