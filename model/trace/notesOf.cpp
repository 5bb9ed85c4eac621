// SPDX-License-Identifier: Apache-2.0
#include "model/trace/notesOf.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace lanescope {

std::vector<HealthNote> notesOf(const Trace& trace) {
    std::vector<HealthNote> notes;
    std::set<std::tuple<Severity, HealthCode, std::string_view, std::string_view>> said;
    for (const HealthNote& note : trace.health)
        if (said.emplace(note.severity, note.code, note.unknownCode, note.sentence).second)
            notes.push_back(note);
    if (trace.isDamaged())
        notes.push_back({Severity::Error, HealthCode::IndexDamaged,
                         "The index is damaged: what is shown may be wrong. Remove it with "
                         "\"lanescope index --remove\", then open the trace again."});
    std::stable_sort(notes.begin(), notes.end(), [](const HealthNote& a, const HealthNote& b) {
        return a.severity > b.severity;
    });
    return notes;
}

std::string shownText(const HealthNote& note) {
    if (note.code != HealthCode::Unknown || note.unknownCode.empty()) return note.sentence;
    if (note.sentence.empty())
        return fmt::format("Something that this program does not know: \"{}\".", note.unknownCode);
    return fmt::format("{} (\"{}\", which this program does not know)", note.sentence,
                       note.unknownCode);
}

}  // namespace lanescope
