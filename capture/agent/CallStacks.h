// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/agent/EventRing.h"
#include "capture/log/LogFile.h"
#include "capture/python/StackTable.h"

namespace lanescope::agent {

/// The Python stacks of calls, whoever records these: found where a call is made, told through the
/// ring in which the call comes, and written down with the first call that the log keeps. One for
/// each process, so that a number means the same to all.
class CallStacks {
  public:
    /// What a thread keeps between the calls that it puts into one ring.
    struct OfThread {
        void beginThread() {
            if (table) table->beginThread();
        }
        python::StackTable* table = nullptr;
        bool isWithoutMemory = false;
    };
    /// What an entry of a ring is; stands at its beginning.
    enum class Entry : uint32_t { Call, Code, Stack };

    explicit CallStacks(bool isWanted) : isWanted_(isWanted) {}

    /// What the process that this one was forked from found is here as well. Before all others.
    void takeInterpreter(const CallStacks& parents) { interpreter_.takeFrom(parents.interpreter_); }

    /// Looks for an interpreter unless one was found, seldom if there is none for long: it may be
    /// loaded late. May wait for the loader, but not for another thread that looks. Any thread but
    /// the writer's.
    void look();

    /// Leaves calls without their stacks from now on, or no longer. False if they have none anyway.
    bool pause(bool isPaused) { return interpreter_.pause(isPaused); }

    /// The number of the calling thread's stack; 0 without one. What is new in it goes into the
    /// ring first. The program's thread.
    uint32_t number(OfThread& thread, EventRing& ring);

    /// Takes what a thread told: an entry that is no call. Writer thread, as what follows.
    void take(Entry entry, const void* told);
    /// Writes a stack down unless this part of the log has it. Answers its number, 0 if nothing is
    /// known of it.
    uint32_t write(uint32_t stack, log::RecordWriter& writer);
    /// Says, once, why stacks are missing.
    void report(log::RecordWriter& writer);

  private:
    struct ToldCode;
    struct ToldStack;
    class RingSink;
    struct Code {
        std::string function, file;
    };
    struct Stack {
        uint32_t parent = 0, code = 0;
        int32_t line = 0;
        uint32_t writtenIn = 0;  // the generation of the writer and one; 0: not yet
    };

    const bool isWanted_;
    python::Interpreter interpreter_;
    python::StackNumbers numbers_;
    std::atomic<bool> isLooking_{false};  // guards the next two
    uint32_t looks_ = 0, looksToSkip_ = 0;
    // Writer thread only; by number, from 1.
    std::vector<Code> codes_;
    std::vector<Stack> stacks_;
    std::vector<uint32_t> chain_;
    bool hasReported_ = false, hasReportedMany_ = false;
};

}  // namespace lanescope::agent
