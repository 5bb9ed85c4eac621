// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// What most of a worker's launches are: "; 21 kernels a step of 13.98 us each", or, where these
/// are more, "; 331 copies a step of 12.3 kB each, more than kernels". `per` is " a step", or empty
/// of a run as a whole. Empty where no work shows. O(contributors).
std::string launchedWork(const compare::WorkerSummary& worker, std::string_view per);

/// Whether the GPU runs dry in so many waits of the thread that it can never launch far ahead.
bool isDrained(const compare::WorkerSummary& worker);

/// " 75.2 times a step the thread waits for the GPU, which then has nothing left to do ...": where
/// it waits so often that it can never launch far ahead. Else empty.
std::string drainedSentence(const compare::WorkerSummary& worker, std::string_view per);

}  // namespace lanescope::explain
