// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/analysis/RunSummary.h"

namespace lanescope::explain {

/// Returns true for idle time in which the launching thread was seen not to run. Fewer launches would not help then.
bool isHostWaiting(const analysis::Contributor& each);

/// Returns the launch-bound time in which an alternating thread was proved not to run, except time with an own finding.
int64_t provedWaitNs(const analysis::Contributor& each);

/// Returns the part of launch-bound time in which no thread waited, as far as known. It may be work
/// (`Contributor::workedNs`); the rest is the way from launch to launch.
int64_t ranNs(const analysis::Contributor& each);

/// Returns true for idle time in which the launching thread compiled code or waited for what compiles it.
bool isCompilation(const analysis::Contributor& each);

/// Returns the launch-bound time of waits for the GIL of a thread without launches, as samples suggest.
int64_t gilWaitNs(const analysis::Contributor& each);

/// Returns "on the main thread at data.py:88 in load": the place at which a thread was seen to run
/// for most of the time that it worked for long. Empty if no sample has a line.
std::string hostWorkPlace(const analysis::WorkerSummary& worker);

/// Returns true for idle time in which the CPU allocated or freed memory.
bool isAllocation(const analysis::Contributor& each);

/// Returns true for idle time in a synchronous copy call.
bool isSynchronousCopy(const analysis::Contributor& each);

/// Returns true for idle time in a synchronous memset call.
bool isSynchronousMemset(const analysis::Contributor& each);

/// Returns true for a copy of memory that is not pinned, or idle time in its call.
bool isPageable(const analysis::Contributor& each);

/// Returns true for idle time in a call that should return at once, but blocks because the copied memory is not pinned.
bool isInPageableCopy(const analysis::Contributor& each);

/// Share of a step, or of a reported part of one, below which nothing is mentioned.
inline constexpr double minReportedShare = 0.03;

/// Returns "The GPU waits 14 ms of a step (42 %) for the next batch: mostly ...", and the guessed
/// part of it, for which only the following work is evidence that the CPU was getting data.
std::string inputDataSentence(const analysis::WorkerSummary& worker, const std::string& time,
                              const std::string& mostly);

/// Returns true if nearly all of that time is guessed.
bool isDataMostlyGuessed(const analysis::WorkerSummary& worker);

}  // namespace lanescope::explain
