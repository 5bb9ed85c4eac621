// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/agent/ownThreads.h"

namespace lanescope::agent {

/// Sees to it that the agent finishes when the process exits, before everything that was there at
/// the time of the call is torn down. Any number of calls.
void finishAtExit();

/// Lets the agent finish when SIGTERM, SIGINT or SIGHUP ends the process, which still ends by that
/// signal. Leaves alone those that the program handles or ignores, and a handler that it installs
/// later simply replaces ours. The handler asks for `wake`; `takeEndSignal` says which signal came.
/// Nothing is watched in a process whose number is 1.
void watchForEndSignals(WakeUp* wake);
/// The signal, once after it came, else 0; the caller finishes and then calls `endBySignal`.
int takeEndSignal();
/// Ends the process as the signal would have. Any thread, whatever signals it blocks.
void endBySignal(int signal);
/// In a forked child, and once the log has its end: the handler, if it is still installed, ends the
/// process at once, as the signal would without it.
void forgetEndSignals();

/// Counts forked children in memory that a process and all forked from it share, so that those
/// which leave within their first moments, without a log, are known of. Any thread; without memory
/// nothing is counted.
class SharedTally {
  public:
    /// In the process that is forked from, before any of it. Once; later calls do nothing.
    static void make();
    /// In a forked child: it has something to record.
    static void countChild();
    /// In a forked child: its log has been begun.
    static void countLog();
    /// How many children had something to record and have begun no log.
    static uint64_t childrenWithoutLog();
};

}  // namespace lanescope::agent
