// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Why the steps of the candidate take longer, or shorter if they do: the parts that changed in
/// that direction, weightiest first, at most three, each with at least a sixth of all that changed
/// so, without words. Empty if the means are equal. `pair` is of a worker of these runs.
std::vector<Cause> causesOf(const WorkerComparison& pair, const RunSummary& baseline,
                            const RunSummary& candidate);

}  // namespace lanescope::compare
