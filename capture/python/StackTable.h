// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/python/Interpreter.h"
#include "capture/python/frameWalk.h"

namespace lanescope::agent::python {

/// What a thread finds that it has not told before.
class StackSink {
  public:
    /// A function. False if it cannot be told now.
    virtual bool tellCode(uint32_t code, std::string_view function, std::string_view file) = 0;
    /// A stack: its innermost frame, and the stack that is left without that, 0 for none. `line` 0:
    /// unknown. False if it cannot be told now.
    virtual bool tellStack(uint32_t stack, uint32_t parent, uint32_t code, int32_t line) = 0;

  protected:
    ~StackSink() = default;
};

/// Numbers of all threads of a process, from 1. So many at most, which bounds what is kept of them.
struct StackNumbers {
    static constexpr uint32_t mostStacks = 1u << 20, mostCodes = 1u << 16;
    std::atomic<uint32_t> stacks{0}, codes{0};

    bool isFull() const {
        return stacks.load(std::memory_order_relaxed) >= mostStacks ||
               codes.load(std::memory_order_relaxed) >= mostCodes;
    }
};

/// What one thread knows of its stacks: a stack that it had before costs a walk and a look into a
/// table. Takes its memory from the system, once.
class StackTable {
  public:
    /// So many frames are told, the innermost; in place of all others stands one that says so.
    static constexpr size_t mostFrames = 256;

    /// Null if there is no memory. Lives to the end of the process.
    static StackTable* make();

    /// Another thread has it from now on.
    void beginThread() { isProven_ = false; }

    /// The number of the calling thread's Python stack, 0 if it has none or it cannot be told. What
    /// is new goes to `sink` first. No lock and no allocation.
    uint32_t number(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink);

  private:
    struct Entry {
        uint64_t key;  // 0: free
        uint32_t number;
        uint32_t reserved;
    };
    /// Open addressing; forgets all when it is nearly full.
    template <size_t capacity>
    struct Map {
        static constexpr size_t mostUsed = capacity / 4 * 3;
        Entry entries[capacity];
        size_t used;

        static size_t home(uint64_t key) { return key >> 8 & (capacity - 1); }
        const Entry* find(uint64_t key) const;
        void insert(uint64_t key, uint32_t number);
    };

    bool prove(Interpreter& interpreter, uint64_t threadState);
    uint32_t addFrames(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink,
                       const Walked& walked);
    bool addFrame(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink,
                  const Frame& frame, uint64_t key, uint32_t& number);
    uint32_t codeNumber(Interpreter& interpreter, StackNumbers& numbers, StackSink& sink,
                        const Frame& frame);
    bool addCut(StackNumbers& numbers, StackSink& sink, uint32_t& number);

    // All zeros is an empty one.
    Map<size_t{1} << 14> known_;   // whole stacks
    Map<size_t{1} << 15> stacks_;  // and all that they begin with
    Map<size_t{1} << 12> codes_;
    Frame frames_[mostFrames];
    uint64_t keys_[mostFrames];
    uint32_t spareStack_, spareCode_;  // numbers that could not be told yet
    uint32_t unreadable_;
    bool isProven_;
};

}  // namespace lanescope::agent::python
