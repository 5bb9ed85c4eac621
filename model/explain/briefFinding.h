// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Returns a finding in at most `maxBriefWords` words, made of its facts: "Rank 2: every third step is 11.8 ms longer:
/// tokenizer hiccup". Contains printable names of the trace.
std::string briefFinding(const analysis::RunSummary& run, const Finding& finding);

}  // namespace lanescope::explain
