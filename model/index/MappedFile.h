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

/// Lets a mapping of a file be read even where the file has it no more: somebody cut the file in
/// place, or the disk cannot read it. The kernel then sends SIGBUS, which would end the process;
/// with a guard what is gone reads as zeros, from the page that was asked for to the end of the
/// mapping, and is counted. Who reads must stand any content, also one that changes once.
///
/// The first guard installs a handler of SIGBUS. What is not about a guarded mapping it leaves to
/// whoever handled that signal before, for good. Guarding takes a microsecond, reading nothing.
class MappingGuard {
  public:
    /// Nothing if there are too many guards, or the signal cannot be handled.
    static std::optional<MappingGuard> of(std::span<const std::byte> mapping);
    MappingGuard(MappingGuard&& other) noexcept;
    MappingGuard& operator=(MappingGuard&&) = delete;
    ~MappingGuard();

    /// From now on losses are counted there. It must outlive the guard, or all reading.
    void countInto(std::atomic<uint32_t>& losses) const;

  private:
    explicit MappingGuard(size_t slot) : slot_(slot) {}

    static constexpr size_t none = SIZE_MAX;
    size_t slot_ = none;
};

/// A file as memory, for reading. It stays as it was opened even if another takes its name. What
/// is lost of a mapped file while it is read, since somebody cut it short in place or the disk
/// fails, reads as zeros and is counted (`MappingGuard`). Where a file may vanish under those who
/// have it open, as on other machines' file systems, it is copied into memory, unless it is large.
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
    /// Counts what is lost from now on there, which must outlive all reading.
    void countLossesInto(std::atomic<uint32_t>& losses) const {
        if (guard_) guard_->countInto(losses);
    }

  private:
    MappedFile(std::span<const std::byte> bytes, std::optional<MappingGuard> guard)
        : bytes_(bytes), guard_(std::move(guard)) {}

    std::span<const std::byte> bytes_;
    std::optional<MappingGuard> guard_;  ///< Of what is mapped.
};

}  // namespace lanescope
