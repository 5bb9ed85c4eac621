#pragma once

namespace lanescope {

class Agent;

/// Sees to it that `agent` finishes when the process exits. Any number of calls.
void finishAtExit();

/// Lets `agent` finish when SIGTERM ends the process, which still ends by SIGTERM. Does nothing if the
/// program handles or ignores SIGTERM, and a handler it installs later simply replaces ours.
/// `descriptor` is an eventfd that the handler writes to; `takeTermSignal` says that it came.
void watchForTermSignal(int descriptor);
/// True once after SIGTERM came; the caller finishes and then calls `endByTermSignal`.
bool takeTermSignal();
/// Ends the process as SIGTERM would have.
void endByTermSignal();
/// In a forked child: the handler, if it is ours, ends the child at once.
void forgetTermSignal();

}  // namespace lanescope
