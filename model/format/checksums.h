// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/format/Result.h"

namespace lanescope {

/// The hash FNV-1a with 64 bits. Files hold what it gives, so it stays as it is.
class Fnv1a {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) addByte(static_cast<unsigned char>(byte));
    }
    /// Its bytes, the least first.
    void add(uint64_t number) {
        for (int byte = 0; byte < 8; ++byte, number >>= 8) addByte(number & 0xff);
    }
    uint64_t value() const { return value_; }

  private:
    void addByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// CRC-32 as zlib computes it, of `bytes` behind others whose checksum is `before`. A changed bit
/// always changes it, more changes all but once in 2^32. About 1 GB/s.
uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t before = 0);

/// Whether an SQLite file is what it was when it was sealed.
enum class SealState : uint8_t {
    None,  ///< There is no seal: nobody made one, or what was written behind the last page took it.
    Whole,    ///< No program has written to the file since.
    Changed,  ///< A program has; of pages that it left alone the checksums are still right.
    Broken,   ///< The seal is damaged or was written over, and tells nothing.
};

/// What is written behind the last page of a trace when it is closed: a checksum for each page, and
/// the number that whoever writes to an SQLite file raises. SQLite takes what is there for room.
/// `FORMAT.md` has the layout.
struct PageSeal {
    SealState state = SealState::None;
    uint32_t pageBytes = 0;
    uint32_t changeCounter = 0;
    std::vector<uint32_t> checksums;  ///< By page; none unless it is `Whole` or `Changed`.

    /// Whether page `number`, from 0, is as it was; true of a page that has no checksum unless the
    /// file was changed, when it is one that was added.
    bool isAsSealed(size_t number, std::span<const std::byte> page) const;
};

/// Seals a file that no program has open, again if it was sealed before. It stays as it was if that
/// fails: it cannot be read or written, or is no SQLite file with pages of its own size. O(bytes).
Result<void> sealPages(const std::filesystem::path& path);

/// Reads bytes of a file from a place on; false if that fails.
using ReadAt = std::function<bool(std::span<std::byte> to, uint64_t at)>;

/// The seal of an SQLite file with as many bytes; none if it cannot be read. O(pages).
PageSeal readSeal(uint64_t fileBytes, const ReadAt& read);

/// The number that every program raises when it writes to an SQLite file, from its first bytes.
uint32_t changeCounterIn(std::span<const std::byte> header);

}  // namespace lanescope
