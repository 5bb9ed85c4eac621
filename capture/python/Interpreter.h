// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "capture/python/FrameLayout.h"
#include "capture/python/codeFacts.h"

namespace lanescope::agent::python {

/// The Python interpreter of this process, if there is one. Found by the names of its functions, and read by a layout
/// that is checked against it. Calls no function of it that takes the GIL, a lock or memory.
class Interpreter {
  public:
    enum class State : uint8_t {
        Absent,   ///< None found so far.
        Found,    ///< Its stacks are readable.
        Paused,   ///< Its stacks are readable, but reading is paused.
        Refused,  ///< Found, but its stacks are not readable, or no longer.
    };
    enum class Refusal : uint8_t {
        None,
        UnknownVersion,  ///< Its version has no known layout.
        OtherLayout,     ///< Its memory does not match its version.
    };

    /// Searches for it unless it was found. May wait for the loader of shared libraries. One thread at a time.
    void search();
    /// Copies the state of the parent process's object after a fork. Before all other calls.
    void takeFrom(const Interpreter& parents);

    State state() const { return state_.load(std::memory_order_acquire); }
    Refusal refusal() const { return refusal_.load(std::memory_order_acquire); }
    /// Returns its version, "3.12.3"; empty before it was found.
    const std::string& version() const { return version_; }

    /// Returns the state of the calling thread; 0 if it has none, or while Python ends. Once found, any thread.
    uint64_t threadState();

    const FrameLayout& layout() const { return layout_; }
    const KnownTypes& types() const { return types_; }

    /// Returns true if a valid stack was read. Any thread, like the next two.
    bool isProven() const { return isProven_.load(std::memory_order_relaxed); }
    void setProven() { isProven_.store(true, std::memory_order_relaxed); }
    void refuse(Refusal why);
    /// Pauses or resumes reading. Returns false if nothing was readable anyway. Any thread.
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
    std::atomic<uint32_t> otherStates_{0};  // states registered to another thread
};

}  // namespace lanescope::agent::python
