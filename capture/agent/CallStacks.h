// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/agent/EventRing.h"
#include "capture/log/LogFile.h"
#include "capture/python/StackTable.h"

namespace lanescope::agent {

/// Python stacks of calls, shared by all recorders. A stack is found at the call, passed through
/// the ring of the call, and written with the first call that the log keeps. One instance per
/// process, so that a number means the same to all.
class CallStacks {
  public:
    /// State of a thread between the calls that it puts into one ring.
    struct OfThread {
        void beginThread() {
            if (table) table->beginThread();
        }
        python::StackTable* table = nullptr;
        bool isWithoutMemory = false;
    };
    /// Kind of a ring entry, stored at its beginning.
    enum class Entry : uint32_t { Call, Code, Stack };

    /// `line` is for `isOfLine`, "train.py:212" with any end of the path; empty for none.
    explicit CallStacks(bool isWanted, const std::string& line = {});

    /// Copies the interpreter that the parent process found before the fork. Before all other calls.
    void takeInterpreter(const CallStacks& parents) { interpreter_.takeFrom(parents.interpreter_); }

    /// Searches for an interpreter unless one was found. Searches rarely if none appears for long, since it may be
    /// loaded late. May wait for the loader, but not for another searching thread. Any thread but the writer's.
    void search();

    /// Pauses or resumes the recording of stacks. Returns false if calls have no stacks anyway.
    bool pause(bool isPaused) { return interpreter_.pause(isPaused); }

    /// Returns the number of the calling thread's stack, or 0 without one. Puts its new parts into
    /// the ring first. The program's thread.
    uint32_t number(OfThread& thread, EventRing& ring);

    /// Returns true if the innermost frame of a stack outside of libraries is at the line of the constructor. False for
    /// stacks that were not drained yet. Any thread.
    bool isOfLine(uint32_t stack) const {
        return isOfLine_ && stack <= python::StackNumbers::maxStacks &&
               isOfLine_[stack].load(std::memory_order_relaxed);
    }

    /// Drains rings whose entries begin with their kind: keeps the stacks, and passes the calls to `takeCall` as
    /// `ThreadRings::drain` does. Writer thread, like the following functions.
    template <class Rings, class TakeCall>
    uint64_t drain(Rings& rings, TakeCall takeCall) {
        return rings.drain([&](auto& state, const void* entry, size_t bytes) {
            const auto kind = *static_cast<const Entry*>(entry);
            if (kind == Entry::Call)
                takeCall(state, entry, bytes);
            else
                take(kind, entry);
        });
    }
    /// Writes a stack unless this part of the log has it. Returns its number, or 0 if the stack is unknown.
    uint32_t write(uint32_t stack, log::RecordWriter& writer);
    void report(log::RecordWriter& writer);

  private:
    struct CodeEntry;
    struct StackEntry;
    class RingSink;
    struct Code {
        std::string function, file, module;
    };
    struct Stack {
        uint32_t parent = 0, code = 0;
        int32_t line = 0;
        uint32_t writtenIn = 0;  // the writer's generation plus one; 0: not yet
    };

    void take(Entry entry, const void* content);
    bool isOwnFrameAtLine(const Stack& stack) const;

    const bool isWanted_;
    const std::string file_;
    const std::string line_;
    std::unique_ptr<std::atomic<bool>[]> isOfLine_;  // by stack; null without a line
    python::Interpreter interpreter_;
    python::StackNumbers numbers_;
    std::atomic<bool> isSearching_{false};  // guards the next two members
    uint32_t searches_ = 0, searchesToSkip_ = 0;
    // Writer thread only; by number, from 1.
    std::vector<Code> codes_;
    std::vector<Stack> stacks_;
    std::vector<uint32_t> chain_;
    bool hasReported_ = false, hasReportedMany_ = false;
};

}  // namespace lanescope::agent
