// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What recorded a trace that is a log of NCCL Inspector.
inline constexpr std::string_view inspectorProducer = "NCCL Inspector";

/// What the health of such a trace says of that.
inline constexpr std::string_view knowsOnlyNcclSentence =
    "Of the GPUs the file knows NCCL's kernels only, to a microsecond, and not which GPU they ran "
    "on: their numbers count the ranks, and what else they did is not known.";

/// Whether a trace of that producer knows of GPUs only when NCCL's kernels ran: then nobody can say
/// when they did nothing, and why.
constexpr bool knowsOnlyNccl(std::string_view producer) {
    return producer == inspectorProducer;
}

/// What was lost or is doubtful in a trace, for people: gravest first, and once where several
/// processes say the same. O(n log n) in the notes.
std::vector<HealthNote> notesOf(const Trace& trace);

/// What to show of a note: its sentence, and that this program does not know what it is about,
/// where that is so.
std::string shownText(const HealthNote& note);

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
