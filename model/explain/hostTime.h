// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/analysis/RunSummary.h"

namespace lanescope::explain {

/// Idle while the thread that launches was seen not to run. What it runs is not what keeps the GPU
/// waiting then, so fewer launches would not help.
bool isHostWaiting(const analysis::Contributor& each);

/// Of launch-bound time of a thread that ran and waited by turns: in how much it was proved not to
/// run, whatever is a finding of its own.
int64_t provedWaitNs(const analysis::Contributor& each);

/// What of launch-bound time no thread waited in, as far as that is known. That may be work
/// (`Contributor::workedNs`); the rest is the way from launch to launch.
int64_t ranNs(const analysis::Contributor& each);

/// "on the main thread at data.py:88 in load": where a thread was seen to run for most of the time
/// that it worked for long. Empty if no look saw a line.
std::string hostWorkPlace(const analysis::WorkerSummary& worker);

/// Idle while the CPU allocated or freed memory.
bool isAllocation(const analysis::Contributor& each);

/// Idle while the CPU was in a copy that returns when it is done.
bool isSynchronousCopy(const analysis::Contributor& each);

/// The same of a memset.
bool isSynchronousMemset(const analysis::Contributor& each);

/// A copy of memory that is not pinned, or idle time in its call.
bool isPageable(const analysis::Contributor& each);

/// Idle while the CPU was in a call that should return at once and does not, for what it copies is
/// not pinned.
bool isInPageableCopy(const analysis::Contributor& each);

/// Of a step, or of what is told of one: less is not worth a sentence.
inline constexpr double leastShareTold = 0.03;

/// "The GPU waits 14 ms of a step (42 %) for the next batch: mostly ...", and how much of that is a
/// guess, as nothing but what came next says that the CPU was getting data.
std::string inputDataSentence(const analysis::WorkerSummary& worker, const std::string& time,
                              const std::string& mostly);

/// Whether nearly all of that time is such a guess.
bool isDataMostlyGuessed(const analysis::WorkerSummary& worker);

}  // namespace lanescope::explain
