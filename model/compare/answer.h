// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Of the idle time in the path of `idle` the contributor that changed most in its direction; null
/// if there is none.
const ContributorDifference* mostChangedIdle(const WorkerComparison& pair,
                                             const QuantityClaim& idle);

/// What finds it in the traces.
InstanceQuery queryOf(const ContributorDifference& contributor);

/// What of the part that `cause` is about changed most the other way than its `main`, or beside it;
/// null if there is none, or it is less than half of what lies between `main` and the part, or more
/// than twice that, so that it takes others to tell.
const ContributorDifference* mainOffset(const WorkerComparison& pair, const Cause& cause);

/// Whether the step became longer and this shorter, or the other way round. Of steps that did
/// neither nothing is.
bool isOffset(const WorkerComparison& pair, const Cause& cause);

/// Why the steps of the candidate take longer, or shorter if they do: the parts that changed in
/// that direction, weightiest first, at most three, each with at least a sixth of all that changed
/// so; at most two parts that offset as much; then what is certain (`QuantityClaim`) and not among
/// them, and further changes of kind. What changed in the direction of the step first, and of that
/// changes of kind, then what is certain; without words. Empty if the means are equal and nothing
/// is certain. `pair` is of a worker of these runs.
std::vector<Cause> causesOf(const WorkerComparison& pair, const analysis::RunSummary& baseline,
                            const analysis::RunSummary& candidate);

/// The answer of a comparison whose figures are complete: outcome, causes, and the steps that tell
/// something. Its words (`sayAnswer`) and cautions are left to the caller.
Answer answerOf(const RunComparison& comparison, const analysis::RunSummary& baseline,
                const analysis::RunSummary& candidate);

/// Gives a comparison whose figures are complete its answer, cautions and words.
void answer(RunComparison& comparison, const analysis::RunSummary& baseline,
            const analysis::RunSummary& candidate);

/// Puts the answer of a comparison, whose figures are complete, into words: its sentence, the text
/// of its causes, and its details. The numbers are those of the tables.
void sayAnswer(RunComparison& comparison, const analysis::RunSummary& baseline,
               const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
