// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fileNotes.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace lanescope {

std::vector<std::string> shortNames(std::span<const TracePtr> traces) {
    std::vector<std::string> names;
    for (const TracePtr& trace : traces) names.push_back(trace->title);
    const auto tellApart = [&](auto longer) {
        std::map<std::string, int> times;
        for (const std::string& name : names) ++times[name];
        for (size_t index = 0; index < names.size(); ++index)
            if (times[names[index]] > 1) names[index] = longer(*traces[index]);
    };
    tellApart([](const Trace& trace) {
        return (trace.path.parent_path().filename() / trace.title).string();
    });
    tellApart([](const Trace& trace) { return trace.path.string(); });
    std::set<std::string> taken;
    for (std::string& name : names) {
        const std::string first = name;
        for (int number = 2; !taken.insert(name).second; ++number)
            name = fmt::format("{} ({})", first, number);
    }
    return names;
}

bool isOfEveryFile(const HealthNote& note) {
    if (note.count || note.globalPid || note.timeNs) return false;
    return note.severity == Severity::Info || note.code == HealthCode::NotShown ||
           note.code == HealthCode::CoarseTimes;
}

HealthNote ofFile(HealthNote note, const std::string& name) {
    const bool isNamed = note.count || note.severity != Severity::Info;
    if (isNamed && !isOfEveryFile(note)) note.sentence = fmt::format("{}: {}", name, note.sentence);
    return note;
}

}  // namespace lanescope
