// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanescope::agent {

/// Counts of calls that could not be recorded. Any thread; the writer reads them.
struct LostCalls {
    /// Calls from a signal handler that had interrupted another call.
    static inline constinit std::atomic<uint64_t> nested{0};
    static inline constinit std::atomic<uint64_t> withoutMemory{0};
};

/// Marks the calling thread as inside the agent during its lifetime. A signal handler that calls in
/// again there gets an `Inside` that is false. It must leave at once: the agent's state could be
/// half changed, or locked by the same thread. Costs about 1 ns.
class Inside {
  public:
    Inside() : isFirst_(!isInside_) {
        if (!isFirst_) [[unlikely]] {
            LostCalls::nested.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        isInside_ = true;
        // Only a handler on the same thread can observe it, so only the compiler's order matters.
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Inside() {
        if (!isFirst_) [[unlikely]]
            return;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        isInside_ = false;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    explicit operator bool() const { return isFirst_; }

    /// Returns true if the calling thread is inside, perhaps below a signal handler.
    static bool isCallingThread() { return isInside_; }

  private:
    // Volatile, because a signal handler changes it.
    static inline constinit thread_local volatile bool isInside_ = false;

    const bool isFirst_;
};

}  // namespace lanescope::agent
