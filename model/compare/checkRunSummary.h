// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// Whether a summary from a file can be one that this program wrote: counts and times are not
/// negative and small enough to be summed, steps follow each other, the parts of a step sum to its
/// time, the contributors of a part to that part, and lists are no longer than they can be.
bool isConsistent(const RunSummary& summary);

}  // namespace lanescope::compare
