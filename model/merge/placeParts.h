// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What people call the file of each trace: its name, with as much of its folder as tells it from
/// the others. No two are the same.
std::vector<std::string> shortNames(std::span<const TracePtr> traces);

/// Whether a note says what is so of each file of its kind, and not what this one lost: of many it
/// is said once.
bool isOfEveryFile(const HealthNote& note);

/// The note as one of several files has it: which of them is said where it counts or warns.
HealthNote ofFile(HealthNote note, const std::string& name);

/// Whose the processes and GPUs of several traces are once these are one.
struct PlacedParts {
    struct Part {
        std::vector<int64_t> globalPids;  ///< In the whole, of each process of the part.
        std::vector<int64_t> gpuIds;      ///< In the whole, of each of its GPUs.
        uint32_t clock = 0;               ///< Which of `clocks` its times are of.
    };
    std::vector<Part> parts;
    std::vector<std::string> clocks;  ///< What people call each: its host, else the file.
    std::vector<HostName> hosts;      ///< By the number in packed ids; empty if there is but one.
};

/// Gives each process of the traces a packed id of its own, which says its host, and each GPU a
/// number of its own. GPUs of one host are the same if their UUIDs or their places on the bus are;
/// where files tell neither, if they have the same number and only one file has work on it. Traces
/// of one host have one clock; where a file does not name its host, it has a clock of its own.
/// Fails if there are more hosts than ids can hold.
Result<PlacedParts> placeParts(std::span<const TracePtr> traces);

}  // namespace lanescope
