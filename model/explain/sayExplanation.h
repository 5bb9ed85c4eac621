// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Puts an explanation whose figures are complete into words: its sentence, those of its findings,
/// and its doubts.
void sayExplanation(const analysis::RunSummary& run, Explanation& explanation);

}  // namespace lanescope::explain
