#include "model/trace/healthPlaces.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/values/formatValue.h"

namespace lanescope {

namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

bool speaksOf(const HealthNote& note, const Process& process) {
    const std::string start = fmt::format("Process {}", process.pid);
    return note.sentence.starts_with(start) && note.sentence.size() > start.size() &&
           (note.sentence[start.size()] < '0' || note.sentence[start.size()] > '9');
}

bool speaksOfAnEnd(const HealthNote& note) {
    return contains(note.sentence, "ended abnormally") ||
           contains(note.sentence, "was ended by signal");
}

std::string sentenceOf(const Gap& gap, uint32_t pid) {
    const char* what = gap.what == GapKind::Nvtx           ? "NVTX calls"
                       : gap.what == GapKind::CudaActivity ? "CUDA activity"
                                                           : "blocks of the log";
    return gap.count > 0 ? fmt::format("Process {} lost {} of its {} here.", pid,
                                       formatCount(gap.count), what)
                         : fmt::format("Process {} lost {} here.", pid, what);
}

}  // namespace

std::vector<HealthPlace> healthPlaces(const Trace& trace) {
    std::vector<HealthPlace> places;
    for (uint32_t index = 0; index < trace.processes.size(); ++index) {
        const Process& process = trace.processes[index];
        const auto note = std::find_if(
            trace.health.begin(), trace.health.end(),
            [&](const HealthNote& each) { return speaksOfAnEnd(each) && speaksOf(each, process); });
        const bool isNoted = note != trace.health.end();
        if (!process.endedAbnormally && !isNoted) continue;
        const int64_t endNs = process.range.endNs;
        places.push_back(
            {{endNs, endNs},
             index,
             true,
             isNoted ? note->sentence : fmt::format("Process {} ended abnormally.", process.pid)});
    }
    const auto byTime = [](const HealthPlace& a, const HealthPlace& b) {
        return a.range.startNs < b.range.startNs;
    };
    std::stable_sort(places.begin(), places.end(), byTime);
    const auto endCount = std::ssize(places);
    for (uint32_t index = 0; index < trace.processes.size(); ++index)
        for (const Gap& gap : trace.processes[index].gaps)
            places.push_back(
                {gap.range, index, false, sentenceOf(gap, trace.processes[index].pid)});
    std::stable_sort(places.begin() + endCount, places.end(), byTime);
    return places;
}

std::optional<HealthPlace> placeOf(const Trace& trace, const std::vector<HealthPlace>& places,
                                   const HealthNote& note) {
    const bool isAboutEnd = speaksOfAnEnd(note);
    const bool isAboutLoss = contains(note.sentence, "lost") ||
                             contains(note.sentence, "dropped") ||
                             contains(note.sentence, "missing");
    if (!isAboutEnd && !isAboutLoss) return std::nullopt;
    const bool namesProcess =
        std::any_of(trace.processes.begin(), trace.processes.end(),
                    [&](const Process& process) { return speaksOf(note, process); });
    for (const HealthPlace& place : places)
        if (place.isEnd == isAboutEnd &&
            (!namesProcess || speaksOf(note, trace.processes[place.process])))
            return place;
    return std::nullopt;
}

}  // namespace lanescope
