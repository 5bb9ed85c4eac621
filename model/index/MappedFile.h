// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace lanescope {

/// Makes a mapping of a file readable even if the file has lost its data because of truncation or a disk error. The
/// kernel then sends SIGBUS, which would end the process. With a guard, the mapping reads as zeros from the missing
/// page to its end, and the loss is counted. Readers must accept any contents, also contents that change once.
///
/// The first guard installs a handler of SIGBUS. Signals outside of guarded mappings go to the earlier handler
/// permanently. A guard costs a microsecond to create and nothing per read.
class MappingGuard {
  public:
    /// Returns nullopt if too many guards exist or the signal cannot be handled.
    static std::optional<MappingGuard> of(std::span<const std::byte> mapping);
    MappingGuard(MappingGuard&& other) noexcept;
    MappingGuard& operator=(MappingGuard&&) = delete;
    ~MappingGuard();

    /// Counts later losses in `losses`, which must outlive the guard or all reading.
    void countInto(std::atomic<uint32_t>& losses) const;

  private:
    explicit MappingGuard(size_t slot) : slot_(slot) {}

    static constexpr size_t none = SIZE_MAX;
    size_t slot_ = none;
};

/// A file in memory for reading. Its contents stay as opened even if another file replaces its name. Lost parts of a
/// mapped file read as zeros and are counted (`MappingGuard`), for example after truncation in place or a disk failure.
/// A file that may vanish while open, as on remote file systems, is copied into memory unless it is large.
class MappedFile {
  public:
    enum class Access : uint8_t {
        Fitting,  ///< Mapped if on a local file system or large, else copied.
        Mapped,   ///< Each page at its first read.
        Copied,   ///< All at once. O(bytes).
    };
    /// A larger file is always mapped, since a copy would take too long.
    static constexpr uint64_t maxCopiedBytes = uint64_t{64} << 20;

    /// Returns nullopt if the file cannot be read or is empty.
    static std::optional<MappedFile> open(const std::filesystem::path& path, Access access = Access::Fitting);
    /// Like the above for an open file; the caller keeps the descriptor and may close it.
    static std::optional<MappedFile> open(int descriptor, Access access = Access::Fitting);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    /// Unloads the pages read so far if the file is mapped; the next access loads them again. Other threads may read.
    void unload() const;
    /// Counts later losses in `losses`, which must outlive all reading.
    void countLossesInto(std::atomic<uint32_t>& losses) const {
        if (guard_) guard_->countInto(losses);
    }

  private:
    MappedFile(std::span<const std::byte> bytes, bool isMapped, std::optional<MappingGuard> guard)
        : bytes_(bytes), isMapped_(isMapped), guard_(std::move(guard)) {}

    std::span<const std::byte> bytes_;
    bool isMapped_ = false;              ///< False for a copy.
    std::optional<MappingGuard> guard_;  ///< Guard of the mapping.
};

}  // namespace lanescope
