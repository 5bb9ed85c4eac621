// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
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

/// Method by which the clocks of several traces are synchronized.
enum class ClockMethod : uint8_t {
    BaseTime,     ///< By the time of day at which each file began, by its own statement.
    Collectives,  ///< By common collectives and messages.
    Steps,        ///< By the starts of steps with the same number.
    Start,        ///< By their first events.
};
/// For files and programs: "base-time", "collectives", "steps", "start".
std::string_view identifier(ClockMethod method);

struct MergeOptions {
    /// Default: nothing if all are of one host, else collectives, steps, the time of day, the first
    /// of them that determines each clock.
    std::optional<ClockMethod> method = {};
    TraceExcerpt cut = {};  ///< Clocks are synchronized by all data of the traces, also outside the excerpt.
    unsigned threads = 1;
    bool mayWriteIndexes = true;  ///< For merged files that have no index.
};

/// Merges several traces, such as ranks of a job with a file each. Processes keep their PIDs and have their host in
/// their packed ids, GPUs get new numbers, and times are by the clock of the first.
///
/// Warnings and properties of each process contain the synchronization of clocks and its precision: `clock.method`,
/// `clock.offsetNs`, `clock.driftPpm`, `clock.errorNs`. For each setting `clock.set` has, separated by spaces: the step
/// in ns, the times of the whole before and after it, and the offset and drift from then on.
///
/// Fails if the traces are not of one run (`checkTogether`), if the chosen method finds nothing, if the files were
/// recorded days apart, if nothing is in the excerpt, or if the whole is larger than a trace can be. Stops as
/// `TraceBuilder::finish` does. The builder is finished. O(n log n).
Result<TraceBuilder> mergeTraces(std::span<const TracePtr> traces, const MergeOptions& options = {},
                                 const std::stop_token& stop = {});

}  // namespace lanescope
