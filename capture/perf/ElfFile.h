// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::capture {

/// A program or library file: addresses of its segments and names of its functions. Accepts any
/// bytes; the time is bounded.
class ElfFile {
  public:
    /// Maps the file. Returns nullopt if it is no 64-bit file for this machine. The first query reads the names.
    static std::optional<ElfFile> open(const std::string& path);
    /// Uses an image in memory that outlives the object.
    static std::optional<ElfFile> at(std::span<const std::byte> bytes);
    ElfFile(ElfFile&& other) noexcept;
    ElfFile& operator=(ElfFile&&) = delete;
    ~ElfFile();

    /// Returns the difference between addresses in memory and as linked, if the piece from
    /// `fileOffset` on is mapped at `address`. Returns nullopt if no executable segment is there.
    std::optional<uint64_t> bias(uint64_t address, uint64_t fileOffset) const;
    /// Returns the linked address of its first segment, a whole number of pages.
    uint64_t firstAddress() const { return firstAddress_; }
    /// Returns the linked address of the entry point; for a library perhaps 0.
    uint64_t entry() const { return entry_; }

    /// Returns the name in the file of the function at that linked address, at most 64 KiB of it;
    /// empty if there is none. The first call is O(n log n) in the symbols, then O(log n).
    std::string_view nameAt(uint64_t address);

  private:
    struct Part {
        uint64_t offset, address, fileBytes;
    };
    struct Symbol {
        uint64_t address;
        uint64_t bytes;
        uint64_t name;  ///< Offset in the file.
    };
    explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool readHeads();
    void readSymbols();
    void readTable(uint64_t symbols, uint64_t symbolBytes, uint64_t names, uint64_t nameBytes, size_t& left);

    std::span<const std::byte> bytes_;
    bool isMapped_ = false, hasSymbols_ = false;
    std::vector<Part> executable_;
    uint64_t firstAddress_ = 0, entry_ = 0;
    std::vector<Symbol> symbols_;  ///< By address.
};

}  // namespace lanescope::capture
