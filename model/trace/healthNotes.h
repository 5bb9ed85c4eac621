// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Health note of such a trace.
inline constexpr std::string_view ncclKernelsOnlySentence =
    "The file has only the NCCL kernels of the GPUs, to a microsecond, without the GPU they ran on. GPU numbers are "
    "ranks, and other GPU work is unknown.";

/// Returns the health notes for people, most severe first, without duplicates of several processes.
/// O(n log n) in the notes.
std::vector<HealthNote> healthNotesOf(const Trace& trace);

/// Returns the sentence of a note, with a remark if its code is unknown here.
std::string shownText(const HealthNote& note);

/// Place of a problem in a trace.
struct WarningPlace {
    TimeRange range;  ///< Empty for the end of a process.
    uint32_t process = 0;
    bool isEnd = false;    ///< True if the process ended abnormally or by a signal, false for a loss.
    std::string sentence;  ///< Description for the user.
};

/// Returns the abnormal ends of processes, then the gaps, each sorted by time.
std::vector<WarningPlace> healthPlaces(const Trace& trace);

/// Returns "12 NVTX calls", without the number if it is unknown. A kind of loss without a name is
/// shown as its number in the file.
std::string lostText(Loss what, int64_t count);

/// Returns the place of a health note by its code and process; nullopt if none. A note about the
/// whole run gets the first place.
std::optional<WarningPlace> placeOf(const Trace& trace, const std::vector<WarningPlace>& places,
                                    const HealthNote& note);

}  // namespace lanescope
