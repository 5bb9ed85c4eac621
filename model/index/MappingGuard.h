// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

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

}  // namespace lanescope
