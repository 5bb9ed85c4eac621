// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/perf/perfAttributes.h"

namespace lanescope::capture {

struct UnwindModule {
    std::string path;
    uint64_t start = 0;  ///< Address of its first segment in memory.
    int file = -1;       ///< Descriptor open for reading, which is consumed; -1: `path` is opened.
};

inline constexpr size_t maxNativeFrames = 256;

/// Unwinder that uses the exception tables of compilers, by elfutils' libdw. Available if the
/// library is installed and its header was present at compile time. One thread.
class LibDw {
  public:
    LibDw();
    ~LibDw();
    explicit operator bool() const;
    /// Returns the reason: "libdw.so.1 of elfutils is not on this machine".
    static const char* absence();

    class Space;
    struct Deleter {
        void operator()(Space* space) const;
    };
    using SpacePtr = std::unique_ptr<Space, Deleter>;
    /// Returns null on failure. Skips files that are not ELF.
    SpacePtr makeSpace(std::vector<UnwindModule> modules) const;

    /// Unwinds a stack from its registers as far as possible; `memory` is the stack from the stack pointer on. Returns
    /// addresses, innermost first; for callers those of the call itself. About 10 us.
    std::vector<uint64_t> walk(Space& space, const PerfRegisters& registers, std::span<const std::byte> memory) const;

  private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
};

/// Unwinds a stack by frame pointers. Code compiled without them yields only the innermost
/// function, or skips callers. Result as for `LibDw::walk`. O(frames).
std::vector<uint64_t> walkFramePointers(const PerfRegisters& registers, std::span<const std::byte> memory);

}  // namespace lanescope::capture
