// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Returns the idle contributor in the path of `idle` that changed most in its direction; null if there is none.
const ContributorDifference* findLargestIdleChange(const WorkerComparison& pair, const QuantityClaim& idle);

/// Returns the query that finds the contributor in the traces.
InstanceQuery queryOf(const ContributorDifference& contributor);

/// Returns the contributor in the part of `cause` that changed most against its `main`, or next to it. Null if there is
/// none, or if it is less than half or more than twice the difference of `main` and the part.
const ContributorDifference* mainOffset(const WorkerComparison& pair, const Cause& cause);

/// Returns true if the step became longer and this shorter, or vice versa. False if the step did not change.
bool isOffset(const WorkerComparison& pair, const Cause& cause);

/// Returns the causes of the candidate's longer, or shorter, steps, without words:
/// - at most three parts that changed in that direction, largest first, each with at least a sixth of all such change;
/// - at most two parts that offset as much;
/// - certain changes (`QuantityClaim`) not among them;
/// - further changes of kind.
///
/// Causes in the direction of the step come first, among them changes of kind, then certain ones.
/// Empty if the means are equal and nothing is certain. `pair` is of a worker of these runs.
std::vector<Cause> causesOf(const WorkerComparison& pair, const analysis::RunSummary& baseline,
                            const analysis::RunSummary& candidate);

/// Returns outcome, causes and significant steps of a comparison, without words (`writeAnswer`) and cautions.
Answer answerOf(const RunComparison& comparison, const analysis::RunSummary& baseline,
                const analysis::RunSummary& candidate);

/// Sets answer, cautions and words of a comparison with complete figures.
void answer(RunComparison& comparison, const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// Writes the answer of a comparison in words: sentence, causes, details. The numbers are those of the tables.
void writeAnswer(RunComparison& comparison, const analysis::RunSummary& baseline,
                 const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
