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

/// Says that the calling thread is inside the agent, as long as it lives. A signal handler that
/// interrupts it there and calls in again gets one that is false, and must leave at once: whatever
/// it touched could be half changed, or locked by the very thread it runs on. About a nanosecond.
class Inside {
  public:
    Inside() : isFirst_(!isInside_) {
        if (!isFirst_) [[unlikely]] {
            LostCalls::nested.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        isInside_ = true;
        // Only a handler on the same thread can see it, so what counts is the compiler's order.
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

    /// Whether the calling thread is inside, perhaps below a signal handler.
    static bool isCallingThread() { return isInside_; }

  private:
    // Volatile, because a handler changes what the interrupted function cannot know of.
    static inline constinit thread_local volatile bool isInside_ = false;

    const bool isFirst_;
};

}  // namespace lanescope::agent
