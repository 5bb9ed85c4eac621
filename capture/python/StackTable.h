// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/python/FrameLayout.h"
#include "capture/python/codeFacts.h"
#include "capture/python/frameWalk.h"

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

/// Receiver of a thread's new functions and stacks.
class StackSink {
  public:
    /// Receives a function; for the call of a module of a model its `readModule`. Returns false if it cannot be stored
    /// now.
    virtual bool addCode(uint32_t code, std::string_view function, std::string_view file, std::string_view module) = 0;
    /// Receives a stack: its innermost frame, and the stack without that frame, 0 for none. `line`
    /// 0: unknown. Returns false if it cannot be stored now.
    virtual bool addStack(uint32_t stack, uint32_t parent, uint32_t code, int32_t line) = 0;

  protected:
    ~StackSink() = default;
};

/// Number counters of all threads of a process, from 1. The maxima bound the memory for stacks.
struct StackNumbers {
    static constexpr uint32_t maxStacks = 1u << 20, maxCodes = 1u << 16, maxModules = 1u << 14;
    std::atomic<uint32_t> stacks{0}, codes{0}, modules{0};
    std::atomic<uint32_t> generation{0};  ///< Rises when modules are made, which may have the addresses of freed ones.

    /// Returns false for a program that makes modules all the time.
    bool distinguishModules() const { return modules.load(std::memory_order_relaxed) < maxModules; }
    bool isFull() const {
        return stacks.load(std::memory_order_relaxed) >= maxStacks || codes.load(std::memory_order_relaxed) >= maxCodes;
    }
};

/// Stacks of one thread: a repeated stack costs a walk and a table lookup. Takes its memory from the system, once.
class StackTable {
  public:
    /// Maximum number of frames, the innermost; one entry replaces all others.
    static constexpr size_t maxFrames = 256;

    /// Returns null if there is no memory. Lives to the end of the process.
    static StackTable* make();

    void beginThread() { isProven_ = false; }

    /// Returns the number of the calling thread's Python stack, or 0 if it has none or it cannot be
    /// stored. Passes new parts to `sink` first. No lock and no allocation.
    uint32_t number(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink);

  private:
    struct Entry {
        uint64_t key;  // 0: free
        uint32_t number;
        uint32_t makesModules;  // 1: as the function of that name
    };
    /// Open addressing; clears itself when it is nearly full.
    template <size_t capacity>
    struct Map {
        static constexpr size_t maxUsed = capacity / 4 * 3;
        Entry entries[capacity];
        size_t used;

        static size_t home(uint64_t key) { return key >> 8 & (capacity - 1); }
        const Entry* find(uint64_t key) const;
        void insert(uint64_t key, uint32_t number, bool makesModules);
    };

    bool prove(Interpreter& interpreter, uint64_t threadState);
    uint32_t addFrames(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Walked& walked,
                       uint32_t generation);
    bool addFrame(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Frame& frame,
                  ModuleCall module, uint64_t key, uint32_t& number);
    uint32_t codeNumber(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink, const Frame& frame,
                        ModuleCall module);
    bool addTruncated(StackNumbers& numbers, StackSink& sink, uint32_t& number);

    // All zeros is an empty map.
    Map<size_t{1} << 16> known_;   // whole stacks
    Map<size_t{1} << 17> stacks_;  // stacks and their outer parts
    Map<size_t{1} << 14> codes_;
    Frame frames_[maxFrames];
    uint64_t keys_[maxFrames];
    uint32_t spareStack_, spareCode_;  // numbers that could not be stored yet
    uint32_t unreadable_;
    uint64_t moduleCall_;  // code object of the function that calls modules; 0 if unknown, 1 if not to be distinguished
    uint64_t attribute_;   // as in `readModule`
    bool isProven_;
    bool makesModules_;  // of the stack that is being added
};

}  // namespace lanescope::agent::python
