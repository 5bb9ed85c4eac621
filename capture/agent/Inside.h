// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lanescope::agent {

/// Counts of calls that could not be recorded. Any thread; the writer reads them.
struct LostCalls {
    /// Calls from a signal handler that had interrupted another call.
    std::atomic<uint64_t> nested{0};
    std::atomic<uint64_t> withoutMemory{0};

    static void countNested() { present().nested.fetch_add(1, std::memory_order_relaxed); }
    static void countWithoutMemory() { present().withoutMemory.fetch_add(1, std::memory_order_relaxed); }
    static LostCalls& ofThisProcess() { return own_; }
    /// Makes a forked child count in `shared`, which its ancestor reports, until it has an agent of its own. A null
    /// `shared` stands for the process's own counts.
    static void countIn(LostCalls* shared) { present_.store(shared, std::memory_order_relaxed); }

  private:
    static LostCalls& present() {
        LostCalls* const shared = present_.load(std::memory_order_relaxed);
        return shared ? *shared : own_;
    }
    static LostCalls own_;
    static inline constinit std::atomic<LostCalls*> present_{nullptr};
};
inline constinit LostCalls LostCalls::own_{};

/// Reason for which a thread is inside the agent.
enum class InsideFor : uint8_t {
    Nothing,
    Call,        ///< Recording a call, without locks and the program's allocator.
    Definition,  ///< Anything else.
};

/// Marks the calling thread as inside the agent during its lifetime. A signal handler that calls in
/// again there gets an `Inside` that is false. It must leave at once: the agent's state could be
/// half changed, or locked by the same thread. Costs about 1 ns.
class Inside {
  public:
    explicit Inside(InsideFor reason = InsideFor::Definition) : isFirst_(reason_ == InsideFor::Nothing) {
        if (!isFirst_) [[unlikely]] {
            LostCalls::countNested();
            return;
        }
        reason_ = reason;
        // Only a handler on the same thread can observe it, so only the compiler's order matters.
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Inside() {
        if (!isFirst_) [[unlikely]]
            return;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        reason_ = InsideFor::Nothing;
    }
    Inside& operator=(Inside&&) = delete;

    explicit operator bool() const { return isFirst_; }

    /// Returns true if the calling thread is inside, perhaps below a signal handler.
    static bool isCallingThread() { return reason_ != InsideFor::Nothing; }
    /// Returns true if the calling thread may record again below the handler that interrupted it, in a forked child
    /// with an agent of its own.
    static bool isOnlyInCall() { return reason_ == InsideFor::Call; }
    /// Removes the mark of the calling thread. In such a child.
    static void leave() { reason_ = InsideFor::Nothing; }

  private:
    // Volatile, because a signal handler changes it.
    static inline constinit thread_local volatile InsideFor reason_ = InsideFor::Nothing;

    const bool isFirst_;
};

}  // namespace lanescope::agent
