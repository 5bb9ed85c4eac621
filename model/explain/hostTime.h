// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// Idle while the thread that launches was seen not to run. What it runs is not what keeps the GPU
/// waiting then, so fewer launches would not help.
bool isHostWaiting(const compare::Contributor& each);

/// Of launch-bound time of a thread that ran and waited by turns: in how much it was proved not to
/// run, whatever is a finding of its own.
int64_t provedWaitNs(const compare::Contributor& each);

/// What of launch-bound time no thread waited in, as far as that is known. That may be work
/// (`Contributor::workedNs`); the rest is the way from launch to launch.
int64_t ranNs(const compare::Contributor& each);

/// "on the main thread at data.py:88 in load": where a thread was seen to run for most of the time
/// that it worked for long. Empty if no look saw a line.
std::string hostWorkPlace(const compare::WorkerSummary& worker);

}  // namespace lanescope::explain
