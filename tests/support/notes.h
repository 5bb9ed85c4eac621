// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns true if a health note of the trace has that code and contains `part`.
inline bool hasNote(const Trace& trace, HealthCode code, std::string_view part = {}) {
    for (const HealthNote& note : trace.health)
        if (note.code == code && note.sentence.find(part) != std::string::npos) return true;
    return false;
}
inline bool hasNote(const Trace& trace, std::string_view part) {
    for (const HealthNote& note : trace.health)
        if (note.sentence.find(part) != std::string::npos) return true;
    return false;
}
/// Returns true if a note below the table contains `part`.
inline bool hasNote(const ReportTable& table, std::string_view part) {
    for (const std::string& note : table.notes)
        if (note.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace lanescope
