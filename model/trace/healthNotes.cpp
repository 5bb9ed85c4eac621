// SPDX-License-Identifier: Apache-2.0
#include "model/trace/healthNotes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "model/text/formatValue.h"

namespace lanescope {

std::vector<HealthNote> healthNotesOf(const Trace& trace) {
    std::vector<HealthNote> notes;
    std::set<std::tuple<Severity, HealthCode, std::string_view, std::string_view>> said;
    for (const HealthNote& note : trace.health)
        if (said.emplace(note.severity, note.code, note.unknownCode, note.sentence).second) notes.push_back(note);
    if (trace.isCorrupt())
        notes.push_back({Severity::Error, HealthCode::IndexDamaged,
                         "The index is corrupt; results may be wrong. Remove it with \"lanescope index --remove\", "
                         "then open the trace again."});
    std::ranges::stable_sort(notes, [](const HealthNote& a, const HealthNote& b) { return a.severity > b.severity; });
    return notes;
}

std::string shownText(const HealthNote& note) {
    if (note.code != HealthCode::Unknown || note.unknownCode.empty()) return note.sentence;
    if (note.sentence.empty()) return fmt::format("Unknown warning: \"{}\".", note.unknownCode);
    return fmt::format("{} (unknown code \"{}\")", note.sentence, note.unknownCode);
}

namespace {

bool isOf(const HealthNote& note, const Process& process) { return note.globalPid == process.globalPid; }

std::string sentenceOf(const Gap& gap, uint32_t pid) {
    return fmt::format("Process {} lost {} here.", pid, lostText(gap.what, gap.count));
}

}  // namespace

std::string lostText(Loss what, int64_t count) {
    std::string text(nounOf(what, static_cast<uint64_t>(count)));
    if (!isKnown(what)) text += fmt::format(" ({})", static_cast<uint32_t>(what));
    return count > 0 ? fmt::format("{} {}", formatCount(count), text) : text;
}

std::vector<WarningPlace> healthPlaces(const Trace& trace) {
    std::vector<WarningPlace> places;
    for (uint32_t index = 0; index < trace.processes.size(); ++index) {
        const Process& process = trace.processes[index];
        const auto note = std::ranges::find_if(trace.health, [&](const HealthNote& each) {
            return subjectOf(each.code) == NoteSubject::End && isOf(each, process);
        });
        const bool isNoted = note != trace.health.end();
        if (!process.endedAbnormally && !isNoted) continue;
        const int64_t endNs = process.range.endNs;
        places.push_back({{endNs, endNs},
                          index,
                          true,
                          isNoted ? note->sentence : fmt::format("Process {} left no exit record.", process.pid)});
    }
    const auto byTime = [](const WarningPlace& a, const WarningPlace& b) { return a.range.startNs < b.range.startNs; };
    std::ranges::stable_sort(places, byTime);
    const auto endCount = std::ssize(places);
    for (uint32_t index = 0; index < trace.processes.size(); ++index)
        for (const Gap& gap : trace.processes[index].gaps)
            places.push_back({gap.range, index, false, sentenceOf(gap, trace.processes[index].pid)});
    std::stable_sort(places.begin() + endCount, places.end(), byTime);
    return places;
}

std::optional<WarningPlace> placeOf(const Trace& trace, const std::vector<WarningPlace>& places,
                                    const HealthNote& note) {
    const NoteSubject subject = subjectOf(note.code);
    if (subject == NoteSubject::Other) return std::nullopt;
    for (const WarningPlace& place : places)
        if (place.isEnd == (subject == NoteSubject::End) &&
            (!note.globalPid || isOf(note, trace.processes[place.process])))
            return place;
    return std::nullopt;
}

}  // namespace lanescope
