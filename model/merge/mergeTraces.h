// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/merge/TraceExcerpt.h"
#include "model/trace/Trace.h"

namespace lanescope {

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
    std::optional<ClockMethod> method;
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
