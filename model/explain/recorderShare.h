// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// A launch of a program that nobody recorded, where that was measured: of back-to-back launches,
/// so that the call alone takes no longer (limits.md).
inline constexpr int64_t plainLaunchNs = 2'450;
/// By no more than that a launch took longer with our recorder on a machine with much else to do.
/// What takes yet longer waits for something.
inline constexpr int64_t mostRecorderNs = 10'000;

/// How much of what the launches of a mean step took may be the recorder's: what each took beyond
/// one that nobody recorded. 0 of a trace of another recorder, as nobody measured those.
int64_t recorderShareNs(const compare::RunSummary& run, const compare::WorkerSummary& worker);

/// " Up to 2.983 ms a step more may be the recorder's: ...", of `ns` of a mean step, where the
/// launches took what they did. Empty for 0. `per` is " a step", or empty of a run as a whole.
std::string recorderSentence(const compare::WorkerSummary& worker, int64_t ns,
                             std::string_view per);

}  // namespace lanescope::explain
