// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Writes the sentences of an explanation with complete figures: its answer, those of its findings, and its caveats.
void writeExplanation(const analysis::RunSummary& run, Explanation& explanation);

}  // namespace lanescope::explain
