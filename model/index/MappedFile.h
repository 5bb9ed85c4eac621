// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace lanescope {

/// A file as memory, for reading. It stays as it was opened even if another takes its name. Who
/// cuts a mapped file short in place, which nothing here does, ends the process that reads it;
/// where a file may vanish under those who have it open, as on other machines' file systems, it is
/// therefore copied into memory, unless it is large.
class MappedFile {
  public:
    /// How the bytes come into memory.
    enum class Access : uint8_t {
        Fitting,  ///< Mapped on file systems of this machine, and if it is large; else copied.
        Mapped,   ///< Each page when it is first read.
        Copied,   ///< All of it at once. O(bytes).
    };
    /// A file larger than this is mapped wherever it lies, since copying it takes too long.
    static constexpr uint64_t mostCopiedBytes = uint64_t{64} << 20;

    /// Nothing for what cannot be read or is empty.
    static std::optional<MappedFile> open(const std::filesystem::path& path,
                                          Access access = Access::Fitting);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
};

}  // namespace lanescope
