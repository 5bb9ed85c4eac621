// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// The answer of a comparison whose figures are complete: outcome, causes, and the steps that tell
/// something. Its words (`sayAnswer`) and cautions are left to the caller.
Answer answerOf(const RunComparison& comparison, const RunSummary& baseline,
                const RunSummary& candidate);

/// Gives a comparison whose figures are complete its answer, cautions and words.
void answer(RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
