// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Puts what takes most first, but a cause before what follows of it: a period before the part that
/// it is more than half of; a part before the pattern without a rhythm that it is most of; waits
/// before the launches that come late because nothing can be launched ahead of them.
void orderFindings(const compare::RunSummary& run, std::vector<Finding>& findings);

}  // namespace lanescope::explain
