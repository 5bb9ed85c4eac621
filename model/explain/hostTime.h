// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// From which mean length of a stretch on idle time is of work of the host, and not of the way from
/// one launch to the next, which takes some microseconds.
inline constexpr int64_t leastHostWorkNs = 500'000;

/// Idle while the thread that launches was seen not to run. What it runs is not what keeps the GPU
/// waiting then, so fewer launches would not help.
bool isHostWaiting(const compare::Contributor& each);

/// Of launch-bound time of a thread that ran and waited by turns: in how much it was proved not to
/// run, whatever is a finding of its own.
int64_t provedWaitNs(const compare::Contributor& each);

/// Idle, in few long stretches, while the thread that launches was seen to run outside of calls: it
/// computes something there, and is not on its way from launch to launch. Looks divide a stretch,
/// so the mean is of no longer ones than there were.
bool isHostWork(const compare::Contributor& each);

/// "at data.py:88 in load": where the thread of such time was seen to run for most of it. Empty if
/// no look saw a line.
std::string hostWorkPlace(const compare::WorkerSummary& worker);

}  // namespace lanescope::explain
