// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"

namespace lanescope::explain {

/// What most of a worker's launches are: "; 21 kernels a step of 13.98 us each", or, where these
/// are more, "; 331 copies a step of 12.3 kB each, more than kernels". `per` is " a step", or empty
/// of a run as a whole. Empty where no work shows. O(contributors).
std::string launchedWork(const analysis::WorkerSummary& worker, std::string_view per);

/// Whether the GPU runs dry in so many waits of the thread that it can never launch far ahead.
bool isDrained(const analysis::WorkerSummary& worker);

/// " 75.2 times a step the thread waits for the GPU, which then has nothing left to do ...": where
/// it waits so often that it can never launch far ahead. Else empty.
std::string drainedSentence(const analysis::WorkerSummary& worker, std::string_view per);

/// A launch of a program that nobody recorded, where that was measured: of back-to-back launches,
/// so that the call alone takes no longer (limits.md).
inline constexpr int64_t plainLaunchNs = 2'450;
/// By no more than that a launch took longer with our recorder on a machine with much else to do.
/// What takes yet longer waits for something.
inline constexpr int64_t mostRecorderNs = 10'000;

/// How much of what the launches of a mean step took may be the recorder's: what each took beyond
/// one that nobody recorded. 0 of a trace of another recorder, as nobody measured those.
int64_t recorderShareNs(const analysis::RunSummary& run, const analysis::WorkerSummary& worker);

/// " Up to 2.983 ms a step more may be the recorder's: ...", of `ns` of a mean step, where the
/// launches took what they did. Empty for 0. `per` is " a step", or empty of a run as a whole.
std::string recorderSentence(const analysis::WorkerSummary& worker, int64_t ns,
                             std::string_view per);

}  // namespace lanescope::explain
