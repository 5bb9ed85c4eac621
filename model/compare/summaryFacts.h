// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// What a trace says of itself. O(properties + events), linear.
SummaryFacts factsOf(const Trace& trace);
/// Processes that work on a GPU, or ranks of the job if any process knows of more.
/// O(streams + processes).
int64_t worldSizeOf(const Trace& trace);
/// What the health of a trace says of losses and damage, in its words:
/// `SummaryFacts::healthWarnings`. O(n log n) in the notes.
std::vector<HealthNote> warningsOf(const Trace& trace);

}  // namespace lanescope::compare
