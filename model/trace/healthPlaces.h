// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Where in a trace something went wrong.
struct HealthPlace {
    TimeRange range;  ///< Empty, at one moment, for the end of a process.
    uint32_t process = 0;
    bool isEnd = false;  ///< The process ended abnormally or by a signal; else something was lost.
    std::string sentence;  ///< What happened.
};

/// The ends of processes that did not end by themselves, then the gaps, each by time.
std::vector<HealthPlace> healthPlaces(const Trace& trace);

/// "12 NVTX calls"; without the number where it is not known, with that of the file for a kind of
/// loss that this program has no name for.
std::string lostText(Loss what, int64_t count);

/// Which of `places` a health note is about, by its code and its process; nothing if none. A note
/// on the whole run is about the first of them.
std::optional<HealthPlace> placeOf(const Trace& trace, const std::vector<HealthPlace>& places,
                                   const HealthNote& note);

}  // namespace lanescope
