// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// A query of the trace file that shows what a finding of `run` is about: that of its rule, or one
/// that asks for the steps, ranges or copies of this run. Empty if none does.
std::string queryOf(const compare::RunSummary& run, const Finding& finding);

}  // namespace lanescope::explain
