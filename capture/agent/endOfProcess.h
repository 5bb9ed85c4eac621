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
/// Ends the process as SIGTERM would have.
void endByTermSignal();
/// In a forked child: the handler, if it is ours, ends the child at once.
void forgetTermSignal();

}  // namespace lanescope
