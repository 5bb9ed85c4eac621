// SPDX-License-Identifier: Apache-2.0
#include "app/cli/traceInfo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/summary/describeTrace.h"
#include "model/trace/notesOf.h"
#include "model/values/displayWidth.h"
#include "model/values/formatValue.h"

namespace lanescope::cli {

namespace {

using Json = nlohmann::ordered_json;

/// A heading and its lines, indented; nothing where there are none.
void appendSection(std::string& text, std::string_view heading,
                   const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n", heading);
    for (const std::string& line : lines) text += fmt::format("  {}\n", printable(line));
}

/// Names padded to one width, so that the values stand in a column.
std::vector<std::string> aligned(const std::vector<Property>& properties) {
    size_t width = 0;
    for (const Property& property : properties)
        width = std::max(width, displayWidth(printable(property.name)));
    std::vector<std::string> lines;
    for (const Property& property : properties) {
        const std::string name = printable(property.name);
        lines.push_back(name + std::string(width - displayWidth(name) + 2, ' ') + property.value);
    }
    return lines;
}

/// Each by its title, with its facts indented below.
std::vector<std::string> linesOf(const std::vector<DescribedThing>& things) {
    std::vector<std::string> lines;
    for (const DescribedThing& thing : things) {
        lines.push_back(thing.title);
        for (const Property& fact : thing.facts)
            lines.push_back(fmt::format("  {:<15} {}", fact.name, fact.value));
    }
    return lines;
}

std::vector<std::string> linesOf(const std::vector<HealthNote>& notes) {
    std::vector<std::string> lines;
    for (const HealthNote& note : notes)
        lines.push_back(fmt::format("{}: {}", identifier(note.severity), shownText(note)));
    if (lines.empty()) lines.emplace_back(nothingKnownLost);
    return lines;
}

Json asObject(const std::vector<Property>& properties) {
    Json object = Json::object();
    for (const Property& property : properties)
        if (!object.contains(property.name)) object[property.name] = property.value;
    return object;
}

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

/// Pairs of start and end; null for a process that recorded all the time.
Json windowsOf(const Process& process) {
    if (!process.hasWindows) return {};
    Json windows = Json::array();
    for (const TimeRange& window : process.windows)
        windows.push_back({window.startNs, window.endNs});
    return windows;
}

Json gapsOf(const Process& process) {
    Json gaps = Json::array();
    for (const Gap& gap : process.gaps)
        gaps.push_back({{"what", nameOf(gap.what).identifier},
                        {"number", static_cast<uint32_t>(gap.what)},
                        {"startNs", gap.range.startNs},
                        {"endNs", gap.range.endNs},
                        {"count", gap.count > 0 ? Json(gap.count) : Json()}});
    return gaps;
}

Json gpuAsJson(const Trace& trace, const Gpu& gpu) {
    const auto facts = std::find_if(trace.gpuFacts.begin(), trace.gpuFacts.end(),
                                    [&](const GpuFacts& each) { return each.gpu == gpu.id; });
    return {{"id", gpu.id},
            {"name", gpu.name},
            {"uuid", gpu.uuid},
            {"busLocation", gpu.busLocation},
            {"memoryBytes", gpu.memoryBytes},
            {"smCount", gpu.smCount},
            {"computeMajor", gpu.computeMajor},
            {"computeMinor", gpu.computeMinor},
            {"properties",
             facts == trace.gpuFacts.end() ? Json::object() : asObject(propertiesOf(*facts))}};
}

Json processAsJson(const Process& process) {
    return {{"pid", process.pid},
            {"name", process.name},
            {"rank", orNull(process.rank)},
            {"localRank", orNull(process.localRank)},
            {"worldSize", orNull(process.worldSize)},
            {"windowsNs", windowsOf(process)},
            {"gaps", gapsOf(process)},
            {"endedAbnormally", process.endedAbnormally},
            {"properties", asObject(propertiesOf(process))}};
}

/// The process of the note by its number, if the trace knows it.
Json pidOf(const Trace& trace, const HealthNote& note) {
    for (const Process& process : trace.processes)
        if (note.globalPid == process.globalPid) return process.pid;
    return {};
}

Json noteAsJson(const Trace& trace, const HealthNote& note) {
    return {{"severity", identifier(note.severity)},
            {"code", codeOf(note)},
            {"pid", pidOf(trace, note)},
            {"timeNs", orNull(note.timeNs)},
            {"count", orNull(note.count)},
            {"sentence", note.sentence}};
}

}  // namespace

std::string infoAsText(const Trace& trace) {
    const DescribedTrace description = describeTrace(trace);
    std::vector<Property> peaks;
    for (const MemoryPeak& peak : description.memoryPeaks) peaks.push_back(peak.line);
    std::string text;
    for (const std::string& line : aligned(description.run)) text += printable(line) + "\n";
    appendSection(text, "GPUs", linesOf(description.gpus));
    appendSection(text, "Processes", linesOf(description.processes));
    appendSection(text, "Events", aligned(description.counts));
    appendSection(text, "Peak memory", aligned(peaks));
    appendSection(text, "Health", linesOf(description.health));
    return text;
}

std::string infoAsJson(const Trace& trace) {
    const DescribedTrace description = describeTrace(trace);
    Json json;
    json["file"] = trace.path.string();
    json["producer"] = trace.producer;
    json["startUtcNs"] = trace.startUtcNs;
    json["rangeNs"] = {trace.range.startNs, trace.range.endNs};
    json["durationNs"] = trace.range.durationNs();
    json["properties"] = asObject(propertiesOf(trace.facts));
    json["gpus"] = Json::array();
    for (const Gpu& gpu : trace.gpus) json["gpus"].push_back(gpuAsJson(trace, gpu));
    json["processes"] = Json::array();
    for (const Process& process : trace.processes)
        json["processes"].push_back(processAsJson(process));
    json["counts"] = Json::array();
    for (const EventCount& count : trace.counts)
        json["counts"].push_back(
            {{"name", count.name}, {"total", count.total}, {"untimed", count.untimed}});
    json["peakMemory"] = Json::array();
    for (const MemoryPeak& peak : description.memoryPeaks)
        json["peakMemory"].push_back({{"name", peak.name},
                                      {"owner", peak.owner},
                                      {"gpu", orNull(peak.gpu)},
                                      {"pid", orNull(peak.pid)},
                                      {"bytes", peak.bytes}});
    json["health"] = Json::array();
    for (const HealthNote& note : description.health)
        json["health"].push_back(noteAsJson(trace, note));
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace lanescope::cli
