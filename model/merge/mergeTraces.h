// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/merge/TraceCut.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// By what the clocks of several traces are brought together.
enum class ClockMethod : uint8_t {
    BaseTime,     ///< By the time of day that each file says it began at.
    Collectives,  ///< By the collectives in which they took part together, and their messages.
    Steps,        ///< By the beginnings of steps of the same number.
    Start,        ///< By their first events.
};
/// For files and programs: "base-time", "collectives", "steps", "start".
std::string_view identifier(ClockMethod method);

struct MergeOptions {
    /// Without one: nothing where all are of one host; else collectives, steps, the time of day,
    /// the first of them by which each clock can be found.
    std::optional<ClockMethod> method;
    TraceCut cut =
        {};  ///< Clocks are brought together by all that the traces have, also by the rest.
    unsigned threads = 1;
    bool mayWriteIndexes = true;  ///< Beside files that have none, where they are merged.
};

/// Several traces as one: ranks of a job that left a file each. Processes keep their PIDs and say
/// their host in their packed ids, GPUs get numbers of their own, and times are by the clock of the
/// first. Logs of NCCL Inspector become a part of the traces of their processes (`joinInspector`).
/// How clocks were brought together, and how well that is known, its health says, and the
/// properties of each process: `clock.method`, `clock.offsetNs`, `clock.driftPpm`, `clock.errorNs`,
/// and for each time that it was set `clock.set`: by how many ns, after and before which time of
/// the whole, and the offset and drift from then on, apart by spaces. Fails if the method asked for
/// finds nothing, the files were recorded days apart, nothing is of the cut, or the whole is larger
/// than a trace can be. False of `stop` as `TraceBuilder::finish`. The builder is finished. O(n log
/// n).
Result<TraceBuilder> mergeTraces(std::span<const TracePtr> traces, const MergeOptions& options = {},
                                 const std::stop_token& stop = {});

}  // namespace lanescope
