// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/trace/Trace.h"

namespace lanescope::answers {

/// A question that a trace cannot answer, and the reason with a remedy.
struct Unknown {
    std::string question, reason;
};

/// Returns the frequent questions that this trace cannot answer, by the data that it lacks. O(tables).
std::vector<Unknown> unknownsOf(const Trace& trace, const analysis::RunSummary& run);

}  // namespace lanescope::answers
