#include "app/cli/traceInfo.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/TraceFacts.h"
#include "model/values/formatValue.h"

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

/// What the names of facts about the whole run are on screen; others are shown as they are.
std::string shownName(const std::string& name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 17> known{{
        {"commandLine", "Command"},
        {"workingDirectory", "Working folder"},
        {"host", "Host"},
        {"operatingSystem", "Operating system"},
        {"kernel", "Kernel"},
        {"cpu", "CPU"},
        {"cpuCount", "CPUs"},
        {"hostMemoryBytes", "Host memory"},
        {"driverVersion", "CUDA driver"},
        {"driverCudaVersion", "CUDA of the driver"},
        {"exitStatus", "Exit status"},
        {"recordOptions", "Recorded with"},
        {"samplers", "Samplers"},
        {"samplerIntervals", "NVML was read"},
        {"samplerIntervalsGpm", "GPM was read"},
        {"samplerIntervalsHost", "/proc was read"},
        {"gpuMetricsSampler", "Metric sampler"},
    }};
    for (const auto& [fileName, shown] : known)
        if (name == fileName) return std::string(shown);
    return name;
}

std::string shownValue(const Property& property) {
    if (property.name == "hostMemoryBytes") return formatBytes(std::atoll(property.value.c_str()));
    return property.value;
}

/// "13.0.1" of 130001, as CUPTI counts from 13.0 on; older numbers say little and stay.
std::string cuptiVersion(std::string_view text) {
    const int number = std::atoi(std::string(text).c_str());
    if (number < 100'000) return fmt::format("(API version {})", text);
    return fmt::format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
}

std::string gpuLine(const Gpu& gpu, const FactMap& facts) {
    std::string line = fmt::format("GPU {}  {}", gpu.id, gpu.name);
    if (gpu.smCount > 0) line += fmt::format(", {} SMs", gpu.smCount);
    if (gpu.computeMajor > 0) line += fmt::format(", sm_{}{}", gpu.computeMajor, gpu.computeMinor);
    if (gpu.memoryBytes > 0) line += ", " + formatBytes(gpu.memoryBytes);
    if (const auto pcie = factOf(facts, "pcieGeneration"); !pcie.empty())
        line += fmt::format(", PCIe {} x{}", pcie, factOf(facts, "pcieWidth"));
    if (const auto links = factOf(facts, "nvlinkCount"); !links.empty())
        line += fmt::format(", {} NVLinks", links);
    if (!gpu.busLocation.empty()) line += ", " + gpu.busLocation;
    return line;
}

/// One line that names the process, then what is known about it, indented. Its command only if it
/// is not that of the run.
std::vector<std::string> processLines(const Process& process, const FactMap& facts,
                                      std::string_view runCommand) {
    std::string line = fmt::format("PID {}  {}", process.pid, process.name);
    if (process.rank) line += fmt::format(", rank {}", *process.rank);
    if (const auto size = factOf(facts, "worldSize"); process.rank && !size.empty())
        line += fmt::format(" of {}", size);
    if (process.localRank) line += fmt::format(", local rank {}", *process.localRank);
    if (!factOf(facts, "forkedChild").empty()) line += ", forked";
    if (const auto signal = factOf(facts, "endSignal"); !signal.empty())
        line += fmt::format(", ended by signal {}", signal);
    if (process.endedAbnormally) line += ", ended abnormally";

    std::vector<std::string> lines{line};
    const auto add = [&lines](std::string_view name, std::string_view value) {
        if (!value.empty()) lines.push_back(fmt::format("  {:<15} {}", name, value));
    };
    if (const auto command = factOf(facts, "commandLine"); command != runCommand)
        add("Command", command);
    add("Visible GPUs", factOf(facts, "visibleDevices"));
    if (const auto version = factOf(facts, "cuptiVersion"); !version.empty() && version != "0")
        add("CUPTI", fmt::format("{}, {}", cuptiVersion(version), factOf(facts, "cuptiPath")));
    if (factOf(facts, "cuda") == "off") add("Not recorded", "CUDA");
    if (factOf(facts, "nvtx") == "off") add("Not recorded", "NVTX");
    if (process.hasWindows) {
        int64_t recordedNs = 0;
        for (const TimeRange& window : process.windows)
            recordedNs += window.intersected(process.range).durationNs();
        add("Windows",
            fmt::format("{}, {} recorded", process.windows.size(), formatDuration(recordedNs)));
    }
    return lines;
}

/// Whether the counter says how much memory is in use, and not how much there is.
bool isUsedMemory(const CounterSeries& series) {
    constexpr std::string_view amounts[] = {"memory.total", "memory.available",
                                            "cgroup.memory.limit"};
    return series.unit == CounterUnit::Bytes &&
           std::find(std::begin(amounts), std::end(amounts), series.key) == std::end(amounts);
}

/// "GPU 0, process 4242 (python3)"; "host" for what is the machine's.
std::string ownerOf(const Trace& trace, const CounterSeries& series) {
    std::string owner;
    if (series.gpu != noIndex) owner = fmt::format("GPU {}", trace.gpus[series.gpu].id);
    if (series.process != noIndex) {
        const Process& process = trace.processes[series.process];
        owner += fmt::format("{}process {}", owner.empty() ? "" : ", ", process.pid);
        const std::string name = std::filesystem::path(process.name).filename();
        if (!name.empty()) owner += fmt::format(" ({})", name);
    }
    return owner.empty() ? "host" : owner;
}

/// "GPU 0, process 4242 (python3): device memory  12.3 GiB", of each counter of used memory.
std::vector<Property> memoryPeaks(const Trace& trace) {
    std::vector<Property> peaks;
    for (const CounterSeries& series : trace.counters) {
        if (!isUsedMemory(series)) continue;
        // The owner stands before it already.
        std::string what = series.key == "memory.rss" ? "resident memory" : series.name;
        if (what.size() > 1 && std::islower(static_cast<unsigned char>(what[1])) != 0)
            what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
        peaks.push_back(
            {ownerOf(trace, series) + ": " + what, formatCounter(series.maximum(), series.unit)});
    }
    return peaks;
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

/// Pairs of start and end; null for a process that recorded all the time.
Json windowsOf(const Process& process) {
    if (!process.hasWindows) return {};
    Json windows = Json::array();
    for (const TimeRange& window : process.windows)
        windows.push_back({window.startNs, window.endNs});
    return windows;
}

}  // namespace

std::string infoAsText(const Trace& trace) {
    const TraceFacts known(trace);
    static const FactMap nothing;
    const auto of = [](const auto& map, auto key) -> const FactMap& {
        const auto found = map.find(key);
        return found == map.end() ? nothing : found->second;
    };
    std::vector<Property> facts{{"File", trace.path.string()}, {"Producer", trace.producer}};
    if (const std::string start = startTime(trace); !start.empty())
        facts.push_back({"Recorded", start});
    facts.push_back({"Duration", formatDuration(trace.range.durationNs())});
    // As --range and the ruler of the timeline count.
    if (!trace.isEmpty())
        facts.push_back({"Events", fmt::format("from {:.3f} s to {:.3f} s",
                                               static_cast<double>(trace.range.startNs) / 1e9,
                                               static_cast<double>(trace.range.endNs) / 1e9)});
    std::string_view runCommand;
    for (const Property& property : known.run) {
        if (property.name == "lanescopeVersion") continue;  // Stands in the producer.
        if (property.name == "commandLine") runCommand = property.value;
        facts.push_back({shownName(property.name), shownValue(property)});
    }

    std::string text;
    for (const std::string& line : aligned(facts)) text += printable(line) + "\n";
    std::vector<std::string> gpus, processes, health;
    for (const Gpu& gpu : trace.gpus) gpus.push_back(gpuLine(gpu, of(known.gpus, gpu.id)));
    for (const Process& process : trace.processes)
        for (std::string& line :
             processLines(process, of(known.processes, process.pid), runCommand))
            processes.push_back(std::move(line));
    // Processes of a job say the same; once is enough.
    for (const HealthNote& note : trace.health) {
        std::string line = fmt::format("{}: {}", severityName(note.severity), note.sentence);
        if (std::find(health.begin(), health.end(), line) == health.end())
            health.push_back(std::move(line));
    }
    appendSection(text, "GPUs", gpus);
    appendSection(text, "Processes", processes);
    appendSection(text, "Events", aligned(countProperties(trace)));
    appendSection(text, "Peak memory", aligned(memoryPeaks(trace)));
    if (health.empty()) health.emplace_back("Nothing was lost.");
    appendSection(text, "Health", health);
    return text;
}

std::string infoAsJson(const Trace& trace) {
    const TraceFacts known(trace);
    const auto of = [](const auto& map, auto key) -> Json {
        const auto found = map.find(key);
        return found == map.end() ? Json::object() : Json(found->second);
    };
    Json json;
    json["file"] = trace.path.string();
    json["producer"] = trace.producer;
    json["startUtcNs"] = trace.startUtcNs;
    json["rangeNs"] = {trace.range.startNs, trace.range.endNs};
    json["durationNs"] = trace.range.durationNs();
    json["properties"] = Json::object();
    for (const Property& property : known.run) json["properties"][property.name] = property.value;
    json["gpus"] = Json::array();
    for (const Gpu& gpu : trace.gpus)
        json["gpus"].push_back({{"id", gpu.id},
                                {"name", gpu.name},
                                {"uuid", gpu.uuid},
                                {"busLocation", gpu.busLocation},
                                {"memoryBytes", gpu.memoryBytes},
                                {"smCount", gpu.smCount},
                                {"computeMajor", gpu.computeMajor},
                                {"computeMinor", gpu.computeMinor},
                                {"properties", of(known.gpus, gpu.id)}});
    json["processes"] = Json::array();
    for (const Process& process : trace.processes)
        json["processes"].push_back(
            {{"pid", process.pid},
             {"name", process.name},
             {"rank", process.rank ? Json(*process.rank) : Json()},
             {"localRank", process.localRank ? Json(*process.localRank) : Json()},
             {"worldSize", process.worldSize ? Json(*process.worldSize) : Json()},
             {"windowsNs", windowsOf(process)},
             {"endedAbnormally", process.endedAbnormally},
             {"properties", of(known.processes, process.pid)}});
    json["counts"] = Json::array();
    for (const EventCount& count : trace.counts)
        json["counts"].push_back(
            {{"name", count.name}, {"total", count.total}, {"untimed", count.untimed}});
    json["peakMemory"] = Json::array();
    for (const CounterSeries& series : trace.counters)
        if (isUsedMemory(series))
            json["peakMemory"].push_back(
                {{"name", series.name},
                 {"owner", ownerOf(trace, series)},
                 {"gpu", series.gpu != noIndex ? Json(trace.gpus[series.gpu].id) : Json()},
                 {"pid",
                  series.process != noIndex ? Json(trace.processes[series.process].pid) : Json()},
                 {"bytes", static_cast<int64_t>(series.maximum())}});
    json["health"] = Json::array();
    for (const HealthNote& note : trace.health)
        json["health"].push_back(
            {{"severity", severityName(note.severity)}, {"sentence", note.sentence}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lanescope
