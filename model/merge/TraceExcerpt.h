// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/format/optionValues.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Excerpt of several traces to merge.
struct TraceExcerpt {
    std::vector<int> ranks;  ///< Ascending, without duplicates; empty for all.
    /// Step range to keep, as counted by `findSteps` in each process, plus the next step, which ends the last. From the
    /// start of the first of them in the first rank to their end in the last rank. Nullopt keeps all.
    std::optional<StepRange> steps;

    bool isWhole() const { return ranks.empty() && !steps; }
    bool operator==(const TraceExcerpt&) const = default;
};

/// Parses "0,17,517", "0-7" or both as ranks; fails for more than 4096 of them.
Result<std::vector<int>> parseRanks(std::string_view text);
/// Returns "ranks 0, 16-17, steps 120-124" or "rank 3"; empty for a whole.
std::string describe(const TraceExcerpt& cut);

/// Returns the rank of a process: from its trace, or from the file's name if it is its only one.
std::optional<int> rankOf(const Trace& trace, const Process& process);

/// Passes the kept time of each process to the builder, and returns which traces have anything in
/// it; `placements` are theirs in the whole. Fails if no process has a chosen rank, or if none has
/// these steps. O(n log n) in ranges, calls and GPU work.
Result<std::vector<bool>> excerptParts(std::span<const TracePtr> traces, std::span<const PartPlacement> placements,
                                       const TraceExcerpt& cut, TraceBuilder& builder);

}  // namespace lanescope
