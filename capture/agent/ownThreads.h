// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope::agent {

/// Starts a thread that no signal of the program is delivered to. False if there can be none.
bool startThread(void* (*main)(void*), void* argument);

/// Gives the calling thread descriptors of its own, none to begin with. So whatever the program
/// does with its numbers concerns none of ours, nor its limit, and none of ours is seen by it. What
/// it has open is not held open by this thread. Where the kernel cannot (before 5.9), we share the
/// program's, and `LogFile` takes care.
void leaveDescriptorsOfProgram();

}  // namespace lanescope::agent
