// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::compare {

/// What both runs sent over NVLink in a step, and how that is known: "NVLink, from each GPU in a
/// step: baseline 222.4 MiB (used; computed from NCCL); candidate 0 B (not used; by
/// its counters)." What is not known is said to be unknown. Empty where both runs had one GPU only.
std::string nvlinkSentence(const RunSummary& baseline, const RunSummary& candidate);

/// One run used NVLink and the other did not, or they sent amounts more than a tenth apart.
bool isNvlinkUseOther(const RunSummary& baseline, const RunSummary& candidate);

}  // namespace lanescope::compare
