// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// What a trace says of itself. O(properties + events), linear.
SummaryFacts factsOf(const Trace& trace);

}  // namespace lanescope::compare
