// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "capture/agent/Inside.h"
#include "capture/agent/ownThreads.h"

namespace lanescope::agent {

/// Registers `Agent::finish` at the exit of the process, before everything present at the time of
/// the call is destroyed. Any number of calls.
void finishAtExit();

/// Installs handlers so that the agent finishes when SIGTERM, SIGINT or SIGHUP ends the process. The process still ends
/// by that signal. Skips signals that the program handles or ignores; a handler installed later replaces ours. The
/// handler calls `wake`; `takeEndSignal` returns the signal. Does nothing in a process whose number is 1.
void watchForEndSignals(WakeUp* wake);
/// Returns the signal once after it came, else 0. The caller finishes and then calls `endBySignal`.
int takeEndSignal();
/// Ends the process as the signal would have. Any thread, whatever signals it blocks.
void endBySignal(int signal);
/// Makes the handler, if still installed, end the process at once, as the signal would without it.
/// In a forked child, after its log has ended.
void forgetEndSignals();

/// Count of forked children, in memory shared by a process and all its descendants, so that children that exit early
/// without a log are counted. Any thread; without memory nothing is counted.
class SharedTally {
  public:
    /// Creates the shared memory, in the parent before any fork. Once; later calls do nothing.
    static void make();
    static void countChild();
    /// Counts a child whose log exists, or whose sign gives the reason for a missing log.
    static void countLog();
    /// Counts a child that could write neither a log nor a sign because of `problem`, an errno.
    static void countUnwritable(int problem);
    /// Returns the number of children that had something to record but left no log, no sign and no reason.
    static uint64_t childrenWithoutLog();
    /// Returns the number of those counted by `countUnwritable`, and the errno of one.
    static std::pair<uint64_t, int> unwritable();
    /// Returns the counts for children without an agent; null without memory.
    static LostCalls* lostCalls();
};

}  // namespace lanescope::agent
