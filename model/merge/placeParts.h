// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the display name of each trace's file: its name, with as much of its folder as needed to be unique.
std::vector<std::string> shortNames(std::span<const TracePtr> traces);

/// Returns true if a note may hold for several files, as it is no loss of one: shown once if all of them have it.
bool isOfEveryFile(const HealthNote& note);

/// Ids of the processes and GPUs of several traces in the merged trace.
struct PlacedParts {
    struct Part {
        std::vector<int64_t> globalPids;  ///< Of each process of the part, in the whole.
        std::vector<int64_t> gpuIds;      ///< Of each of its GPUs, in the whole.
        uint32_t clock = 0;               ///< Index into `clocks` for its times.
    };
    std::vector<Part> parts;
    std::vector<std::string> clocks;  ///< Display name of each: its host, else the file.
    std::vector<HostName> hosts;      ///< By the number in packed ids; empty if there is only one.
};

/// Assigns a unique packed id with the host to each process of the traces, and a unique number to each GPU. GPUs of one
/// host are the same if their UUIDs or their bus addresses are equal. If files have neither: if they have the same
/// number and only one file has work on it. Traces of one host have one clock; a file without a host name has a clock
/// of its own. Fails if there are more hosts than ids can hold.
Result<PlacedParts> placeParts(std::span<const TracePtr> traces);

}  // namespace lanescope
