// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "capture/python/FrameLayout.h"
#include "capture/python/codeFacts.h"

namespace lanescope::agent::python {

/// The Python interpreter of this process, if there is one: found by the names of its functions,
/// and read by a layout that is checked against it. None of its functions is called that takes the
/// GIL, a lock or memory.
class Interpreter {
  public:
    enum class State : uint8_t {
        Absent,   ///< There is none so far.
        Found,    ///< Its stacks can be read.
        Paused,   ///< They could be, and are not for now.
        Refused,  ///< There is one, whose stacks cannot be read, or can no longer.
    };
    enum class Refusal : uint8_t {
        None,
        UnknownVersion,  ///< No layout is known for it.
        OtherLayout,     ///< It does not look as its version should.
    };

    /// Looks for it unless it was found. May wait for the loader of shared libraries. One thread at
    /// a time.
    void look();
    /// Knows from now on what that of the process knew from which this one was forked. Before all
    /// others.
    void takeFrom(const Interpreter& parents);

    State state() const { return state_.load(std::memory_order_acquire); }
    Refusal refusal() const { return refusal_.load(std::memory_order_acquire); }
    /// What it says of its version, "3.12.3"; empty before it was found.
    const std::string& version() const { return version_; }

    /// The state of the calling thread; 0 if Python knows nothing of it, or while it ends. Once
    /// found, any thread.
    uint64_t threadState();

    /// Once found, constant.
    const FrameLayout& layout() const { return layout_; }
    const KnownTypes& types() const { return types_; }

    /// Whether a stack was read that was what it should be. Any thread, as the next two.
    bool isProven() const { return isProven_.load(std::memory_order_relaxed); }
    void setProven() { isProven_.store(true, std::memory_order_relaxed); }
    /// From now on nothing is read.
    void refuse(Refusal why);
    /// Reads nothing from now on, or again. False if nothing could be read anyway. Any thread.
    bool pause(bool isPaused);

  private:
    struct Names;
    bool takeLayout(const void* runtime, int major, int minor);

    FrameLayout layout_;
    KnownTypes types_;
    std::string version_;
    void* (*threadStateOf_)() = nullptr;
    int (*isFinalizing_)() = nullptr;
    std::atomic<State> state_{State::Absent};
    std::atomic<Refusal> refusal_{Refusal::None};
    std::atomic<bool> isProven_{false};
    std::atomic<uint32_t> strangers_{0};  // states that said they were another thread's
};

}  // namespace lanescope::agent::python
