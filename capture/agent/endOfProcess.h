// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/WakeUp.h"

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

}  // namespace lanescope::agent
