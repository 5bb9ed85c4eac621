#pragma once

#include <semaphore.h>

namespace lanescope {

class Agent;

/// Sees to it that the agent finishes when the process exits, before everything that was there at
/// the time of the call is torn down. Any number of calls.
void finishAtExit();

/// Lets `agent` finish when SIGTERM ends the process, which still ends by SIGTERM. Does nothing if
/// the program handles or ignores SIGTERM, and a handler it installs later simply replaces ours.
/// The handler posts `wake`; `takeTermSignal` says that it came.
void watchForTermSignal(sem_t* wake);
/// True once after SIGTERM came; the caller finishes and then calls `endByTermSignal`.
bool takeTermSignal();
/// Ends the process as SIGTERM would have. Any thread, whatever signals it blocks.
void endByTermSignal();
/// In a forked child, and once the log has its end: the handler, if it is still installed, ends the
/// process at once, as SIGTERM would without it.
void forgetTermSignal();

}  // namespace lanescope
