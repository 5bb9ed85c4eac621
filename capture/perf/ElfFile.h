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

/// A program or library on the disk: where its pieces come to lie, and what its functions are
/// called. Any bytes may stand in it; what takes time has bounds.
class ElfFile {
  public:
    /// Maps the file; nothing if it is none of 64 bits of this machine. Names are read at the first
    /// question.
    static std::optional<ElfFile> open(const std::string& path);
    /// One that lies in memory that outlives it.
    static std::optional<ElfFile> at(std::span<const std::byte> bytes);
    ElfFile(ElfFile&& other) noexcept;
    ElfFile& operator=(ElfFile&&) = delete;
    ~ElfFile();

    /// By how much addresses in memory are greater than those that it was linked with, if the piece
    /// from `fileOffset` on lies at `address`; nothing if no part to be executed is there.
    std::optional<uint64_t> bias(uint64_t address, uint64_t fileOffset) const;
    /// Where its first part begins, as it was linked, a whole number of pages.
    uint64_t firstAddress() const { return firstAddress_; }
    /// Where the file is begun to be executed, as it was linked; of a library perhaps 0.
    uint64_t entry() const { return entry_; }

    /// What the function at that address (as linked) is called, as it stands in the file, its first
    /// 64 KiB; empty if there is no name. The first time O(n log n) of its symbols, then O(log n).
    std::string_view nameAt(uint64_t address);

  private:
    struct Part {
        uint64_t offset, address, fileBytes;
    };
    struct Symbol {
        uint64_t address;
        uint64_t bytes;
        uint64_t name;  ///< Where it stands in the file.
    };
    explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool readHeads();
    void readSymbols();
    void readTable(uint64_t symbols, uint64_t symbolBytes, uint64_t names, uint64_t nameBytes,
                   size_t& left);

    std::span<const std::byte> bytes_;
    bool isMapped_ = false, hasSymbols_ = false;
    std::vector<Part> executable_;
    uint64_t firstAddress_ = 0, entry_ = 0;
    std::vector<Symbol> symbols_;  ///< By address.
};

}  // namespace lanescope::capture
