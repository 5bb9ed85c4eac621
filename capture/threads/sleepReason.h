// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "model/format/threadStates.h"

namespace lanescope::capture {

/// What /proc/PID/task/TID/syscall says of a thread.
struct SystemCall {
    bool isRunning = false;  ///< It runs, or could.
    int64_t number = -1;     ///< -1: it sleeps in none, as at a page that has to be read.
    uint64_t argument = 0;   ///< The first; of a futex its address.
    bool isKnown = false;    ///< False if the file says nothing.
};
SystemCall parseSystemCall(std::string_view text);

/// For what a thread sleeps in a system call, as far as the call tells; a lock may be Python's.
ThreadState sleepReason(const SystemCall& call);
/// What the call is called, "futex"; empty if it is none of those that threads commonly wait in.
std::string_view nameOfCall(int64_t number);
bool isFutex(int64_t number);
/// Whether the call works on the file that its first argument names, and may wait for a disk.
bool mayBeDisk(const SystemCall& call);

}  // namespace lanescope::capture
