// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Returns true if two traces are of one recording, such as copies, excerpts and exports: they contain a process with
/// the same id that did its steps at the same time of day on the same host. No machine has two such processes. Exports
/// have no host, which matches any. If the time of recording is unknown, equal content decides
/// (`SummaryFacts::contentHash`). False for pooled runs. O(workers of one * workers of the other); any thread.
bool isSameRecording(const analysis::RunSummary& one, const analysis::RunSummary& other);

/// Returns the NVLink traffic of both runs per step, and its evidence: "NVLink, from each GPU in a
/// step: baseline 222.4 MiB (used; computed from NCCL); candidate 0 B (not used; by its counters)."
/// Unknown traffic is reported as unknown. Empty if both runs had one GPU only.
std::string nvlinkSentence(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// Returns true if only one run used NVLink, or if their amounts differ by more than a tenth.
bool isNvlinkUseOther(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

/// Returns the GPUs with work, grouped by name: "2 x NVIDIA H200".
std::string gpusText(const analysis::SummaryFacts& facts);

/// Returns the known differences between the machines of two runs: "driver", "SM clock".
std::vector<std::string_view> machineDifferences(const analysis::SummaryFacts& baseline,
                                                 const analysis::SummaryFacts& candidate);

/// Returns reasons to doubt a comparison, most significant first: differences of machine and recording, losses.
std::vector<std::string> cautionsOf(const analysis::RunSummary& baseline, const analysis::RunSummary& candidate);

}  // namespace lanescope::compare
