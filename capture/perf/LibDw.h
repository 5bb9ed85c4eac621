// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/perf/perfAttributes.h"

namespace lanescope::capture {

/// A file as an unwinder wants to know it.
struct UnwindModule {
    std::string path;
    uint64_t start = 0;  ///< Where its first part would lie in memory.
    int file = -1;       ///< Open for reading, which is taken; -1: `path` is opened.
};

inline constexpr size_t mostNativeFrames = 256;

/// Follows stacks by the tables that compilers write for exceptions, by elfutils' libdw, which is
/// opened if it is there and if its header was when this was compiled. One thread.
class LibDw {
  public:
    /// Looks for the library. What it holds is false without it.
    LibDw();
    ~LibDw();
    LibDw(const LibDw&) = delete;
    explicit operator bool() const;
    /// Why there is none: "libdw.so.1 of elfutils is not on this machine".
    static const char* absence();

    /// What lies in one address space.
    class Space;
    struct Deleter {
        void operator()(Space* space) const;
    };
    using SpacePtr = std::unique_ptr<Space, Deleter>;
    /// Null if it cannot be made. Files that are none are left out.
    SpacePtr makeSpace(std::vector<UnwindModule> modules) const;

    /// Follows a stack from its registers on, as far as that can be; `memory` is what lay from the
    /// stack pointer on. The innermost address first; of callers that of the call itself. Some ten
    /// microseconds.
    std::vector<uint64_t> walk(Space& space, const PerfRegisters& registers,
                               std::span<const std::byte> memory) const;

  private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
};

/// Follows a stack by its frame pointers, which only code has that was compiled so: of other code
/// it is no more than the innermost function, or leaves callers out. As `LibDw::walk`. O(frames).
std::vector<uint64_t> walkFramePointers(const PerfRegisters& registers,
                                        std::span<const std::byte> memory);

}  // namespace lanescope::capture
