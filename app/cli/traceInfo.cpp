#include "app/cli/traceInfo.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "model/export/formatValue.h"

namespace lanescope {

namespace {

using Json = nlohmann::ordered_json;

std::string_view severityName(Severity severity) {
    switch (severity) {
        case Severity::Info:
            return "info";
        case Severity::Warning:
            return "warning";
        case Severity::Error:
            return "error";
    }
    return "";
}

/// "2026-03-04 05:06:07 UTC"; empty if unknown.
std::string startTime(const Trace& trace) {
    if (trace.startUtcNs <= 0) return {};
    const auto seconds = static_cast<std::time_t>(trace.startUtcNs / 1'000'000'000);
    std::tm parts{};
    if (!::gmtime_r(&seconds, &parts)) return {};
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

std::string gpuLine(const Gpu& gpu) {
    std::string line = fmt::format("GPU {}  {}", gpu.id, gpu.name);
    if (gpu.smCount > 0) line += fmt::format(", {} SMs", gpu.smCount);
    if (gpu.computeMajor > 0) line += fmt::format(", sm_{}{}", gpu.computeMajor, gpu.computeMinor);
    if (gpu.memoryBytes > 0) line += ", " + formatBytes(gpu.memoryBytes);
    if (!gpu.busLocation.empty()) line += ", " + gpu.busLocation;
    return line;
}

std::string processLine(const Process& process) {
    std::string line = fmt::format("PID {}  {}", process.pid, process.name);
    if (process.rank) line += fmt::format(", rank {}", *process.rank);
    if (process.endedAbnormally) line += ", ended abnormally";
    return line;
}

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

std::vector<Property> countProperties(const Trace& trace) {
    std::vector<Property> properties;
    for (const EventCount& count : trace.counts) {
        std::string value = formatCount(count.total);
        if (count.untimed > 0)
            value += fmt::format(", {} of them without a time", formatCount(count.untimed));
        properties.push_back({count.name, value});
    }
    return properties;
}

}  // namespace

std::string infoAsText(const Trace& trace) {
    std::vector<Property> facts{{"File", trace.path.string()}, {"Producer", trace.producer}};
    if (const std::string start = startTime(trace); !start.empty())
        facts.push_back({"Recorded", start});
    facts.push_back({"Duration", formatDuration(trace.range.durationNs())});
    facts.insert(facts.end(), trace.properties.begin(), trace.properties.end());

    std::string text;
    for (const std::string& line : aligned(facts)) text += printable(line) + "\n";
    std::vector<std::string> gpus, processes, health;
    for (const Gpu& gpu : trace.gpus) gpus.push_back(gpuLine(gpu));
    for (const Process& process : trace.processes) processes.push_back(processLine(process));
    for (const HealthNote& note : trace.health)
        health.push_back(fmt::format("{}: {}", severityName(note.severity), note.sentence));
    appendSection(text, "GPUs", gpus);
    appendSection(text, "Processes", processes);
    appendSection(text, "Events", aligned(countProperties(trace)));
    if (health.empty()) health.emplace_back("Nothing was lost.");
    appendSection(text, "Health", health);
    return text;
}

std::string infoAsJson(const Trace& trace) {
    Json json;
    json["file"] = trace.path.string();
    json["producer"] = trace.producer;
    json["startUtcNs"] = trace.startUtcNs;
    json["rangeNs"] = {trace.range.startNs, trace.range.endNs};
    json["durationNs"] = trace.range.durationNs();
    json["properties"] = Json::object();
    for (const Property& property : trace.properties)
        json["properties"][property.name] = property.value;
    json["gpus"] = Json::array();
    for (const Gpu& gpu : trace.gpus)
        json["gpus"].push_back({{"id", gpu.id},
                                {"name", gpu.name},
                                {"uuid", gpu.uuid},
                                {"busLocation", gpu.busLocation},
                                {"memoryBytes", gpu.memoryBytes},
                                {"smCount", gpu.smCount},
                                {"computeMajor", gpu.computeMajor},
                                {"computeMinor", gpu.computeMinor}});
    json["processes"] = Json::array();
    for (const Process& process : trace.processes)
        json["processes"].push_back({{"pid", process.pid},
                                     {"name", process.name},
                                     {"rank", process.rank ? Json(*process.rank) : Json()},
                                     {"endedAbnormally", process.endedAbnormally}});
    json["counts"] = Json::array();
    for (const EventCount& count : trace.counts)
        json["counts"].push_back(
            {{"name", count.name}, {"total", count.total}, {"untimed", count.untimed}});
    json["health"] = Json::array();
    for (const HealthNote& note : trace.health)
        json["health"].push_back(
            {{"severity", severityName(note.severity)}, {"sentence", note.sentence}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lanescope
