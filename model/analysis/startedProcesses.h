// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

/// Child processes of one process, by the time at which a sampler first saw them.
struct ProcessStarts {
    std::vector<int64_t> seenNs;  ///< Sorted.
    bool areLoaders = false;      ///< At least half were sampled loading data.
    std::string name;             ///< "python3.12"; empty if they have several.
};

/// Samplers search for new processes once a second.
inline constexpr int64_t maxUnseenNs = 1'000'000'000;

/// Returns the starts by parent process. O(processes, threads, stacks and states of threads).
std::vector<ProcessStarts> processStarts(const Trace& trace);

/// Returns the processes that start together in or soon after most of the affected steps, and hardly ever at another
/// time after the start of the run. Nullopt if that is not so. O(starts * log steps).
std::optional<Distinction> startsIn(DistinctionOf of, const ProcessStarts& starts, std::span<const StepSummary> steps,
                                    const std::set<uint32_t>& affected);

}  // namespace lanescope::analysis
