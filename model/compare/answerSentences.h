// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Puts the answer of a comparison, whose figures are complete, into words: its sentence, the text
/// of its causes, and its details. The numbers are those of the tables.
void sayAnswer(RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
