// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanescope::agent {

/// Calls of the program that could not be kept, counted where nothing more can be done. Any thread;
/// the writer takes them.
struct LostCalls {
    /// They came from a signal handler that had interrupted another call.
    static inline constinit std::atomic<uint64_t> nested{0};
    static inline constinit std::atomic<uint64_t> withoutMemory{0};
};

}  // namespace lanescope::agent
