// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What was lost or is doubtful in a trace, for people: gravest first, and once where several
/// processes say the same. O(n log n) in the notes.
std::vector<HealthNote> notesOf(const Trace& trace);

/// What to show of a note: its sentence, and that this program does not know what it is about,
/// where that is so.
std::string shownText(const HealthNote& note);

}  // namespace lanescope
