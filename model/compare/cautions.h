// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Whether two traces are of one recording, as copies, excerpts and exports of it are: they hold a
/// process with the same id that did its steps at the same time of day on the same host. No machine
/// has two such. Exports know no host, which fits any then. Where it is not known when they were
/// recorded, equal content tells (`SummaryFacts::contentHash`). Of several runs together never.
/// O(workers of one * workers of the other); any thread.
bool isSameRecording(const analysis::RunSummary& one, const analysis::RunSummary& other);

/// What both runs sent over NVLink in a step, and how that is known: "NVLink, from each GPU in a
/// step: baseline 222.4 MiB (used; computed from NCCL); candidate 0 B (not used; by
/// its counters)." What is not known is said to be unknown. Empty where both runs had one GPU only.
std::string nvlinkSentence(const analysis::RunSummary& baseline,
                           const analysis::RunSummary& candidate);

/// One run used NVLink and the other did not, or they sent amounts more than a tenth apart.
bool isNvlinkUseOther(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// The GPUs that worked, of one name together: "2 x NVIDIA H200".
std::string gpusText(const analysis::SummaryFacts& facts);

/// In what the machines differed on which two runs ran: "driver", "SM clock"; empty for nothing
/// that is known.
std::vector<std::string_view> machineDifferences(const analysis::SummaryFacts& baseline,
                                                 const analysis::SummaryFacts& candidate);

/// What makes a comparison of two runs doubtful, weightiest first: differences in what they ran on
/// and in how they were recorded, and what either trace lost.
std::vector<std::string> cautionsOf(const analysis::RunSummary& baseline,
                                    const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
