// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// Says of a run of which worker most steps take no time, which no program can: work that seems to
/// last beyond the steps behind it leaves nothing for these, as where its end is damaged. Nobody
/// can judge by such steps. Empty if there is no such worker. O(steps); any thread.
std::string timelessSentence(const RunSummary& run);

/// Why two runs cannot be compared: steps of no time in one, or no GPU work.
std::string incomparableSentence(const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
