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

/// What of several traces is taken where they become one.
struct TraceCut {
    std::vector<int> ranks;  ///< Ascending, each once; none: all.
    /// As `findSteps` counts them in each process, and the next one, which ends the last: from
    /// where the first rank begins the first of them to where the last rank ends. Nothing: all.
    std::optional<StepRange> steps;

    bool isWhole() const { return ranks.empty() && !steps; }
    bool operator==(const TraceCut&) const = default;
};

/// "0,17,517", "0-7" or both as ranks; fails with a sentence for anything else, and for more than
/// 4096 of them.
Result<std::vector<int>> parseRanks(std::string_view text);
/// "ranks 0, 16-17, steps 120-124"; "rank 3"; empty for a whole.
std::string describe(const TraceCut& cut);

/// The rank of a process: as its trace says, or as the file's name does if it is its only one.
std::optional<int> rankOf(const Trace& trace, const Process& process);

/// Tells the builder what to take of each process of the traces, and says which traces have
/// anything of that; `placements` are theirs in the whole. Fails if no process is of a rank that
/// is asked for, or none has these steps. O(n log n) in ranges, calls and GPU work.
Result<std::vector<bool>> cutParts(std::span<const TracePtr> traces,
                                   std::span<const PartPlacement> placements, const TraceCut& cut,
                                   TraceBuilder& builder);

}  // namespace lanescope
