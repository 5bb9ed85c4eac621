// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/reports/describeTrace.h"
#include "model/text/formatValue.h"
#include "model/trace/Trace.h"
#include "model/trace/healthNotes.h"

namespace lanescope::cli {

namespace {

using Json = nlohmann::ordered_json;
using Line = std::vector<std::string>;

std::string aligned(const std::vector<Line>& lines) {
    std::vector<size_t> widths;
    for (const Line& line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (size_t column = 0; column < line.size(); ++column)
            widths[column] = std::max(widths[column], displayWidth(line[column]));
    }
    std::string text;
    for (const Line& line : lines) {
        std::string row;
        for (size_t column = 0; column < line.size(); ++column) {
            row += line[column];
            if (column + 1 < line.size()) row.append(widths[column] - displayWidth(line[column]) + 2, ' ');
        }
        while (row.ends_with(' ')) row.pop_back();
        text += printable(row) + "\n";
    }
    return text;
}

std::string matrix(const Trace& trace, const std::vector<int64_t>& gpus) {
    std::vector<Line> lines{{""}};
    for (const int64_t gpu : gpus) lines[0].push_back(fmt::format("GPU{}", gpu));
    lines[0].emplace_back("CPU Affinity");
    lines[0].emplace_back("NUMA Affinity");
    std::set<std::string> words{"X"};
    for (const int64_t gpu : gpus) {
        Line line{fmt::format("GPU{}", gpu)};
        for (const int64_t peer : gpus) {
            line.push_back(gpu == peer ? "X" : wordFor(connectionOf(trace, gpu, peer)));
            words.insert(line.back());
        }
        const GpuAffinity* const affinity = affinityOf(trace, gpu);
        line.push_back(affinity && !affinity->cpus.empty() ? affinity->cpus : "N/A");
        line.push_back(affinity && affinity->numaNode >= 0 ? fmt::format("{}", affinity->numaNode) : "N/A");
        lines.push_back(std::move(line));
    }
    std::string text = aligned(lines) + "\n";
    for (const std::string& word : words)
        if (const std::string meaning = meaningOfWord(word); !meaning.empty())
            text += printable(fmt::format("  {:<5} {}", word, meaning)) + "\n";
    return text;
}

/// Returns, for example, "GPU 0  NVIDIA H200, GPU-4b1c...": the GPU of each number.
std::string names(const Trace& trace) {
    std::vector<Line> lines;
    for (const Gpu& gpu : trace.gpus) {
        std::string about = gpu.name.empty() ? "unknown" : gpu.name;
        if (isMigDevice(gpu)) about += " (a slice of a GPU)";
        lines.push_back({fmt::format("GPU {}", gpu.id), about, gpu.uuid});
    }
    return aligned(lines);
}

std::string number(std::optional<double> value, const char* unit) {
    return value ? fmt::format("{:.3g} {}", *value, unit) : "unknown";
}

std::string pairs(const std::vector<LinkUse>& uses) {
    std::vector<Line> lines{{"From", "To", "Link", "Copied", "GB/s", "Peak", "Of peak"}};
    for (const LinkUse& use : uses) {
        const auto peak = use.peak
                              ? fmt::format("{:.3g} GB/s ({})", use.peak->gigabytesPerSecond, name(use.peak->origin))
                              : std::string("unknown");
        const bool isUsed = use.copyCount > 0;
        lines.push_back({fmt::format("GPU {}", use.gpu), fmt::format("GPU {}", use.peer), wordFor(use.connection),
                         isUsed ? formatBytes(use.copyBytes) : "no copies",
                         isUsed ? number(use.meanGBps(), "GB/s") : "", peak,
                         isUsed ? number(use.peakPercent(), "%") : ""});
    }
    return aligned(lines);
}

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

/// Appends a heading and its lines, indented; nothing without lines.
void appendSection(std::string& text, std::string_view heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n", heading);
    for (const std::string& line : lines) text += fmt::format("  {}\n", printable(line));
}

/// Pads the names to one width, so that the values are aligned.
std::vector<std::string> aligned(const std::vector<Property>& properties) {
    size_t width = 0;
    for (const Property& property : properties) width = std::max(width, displayWidth(printable(property.name)));
    std::vector<std::string> lines;
    for (const Property& property : properties) {
        const std::string name = printable(property.name);
        lines.push_back(name + std::string(width - displayWidth(name) + 2, ' ') + property.value);
    }
    return lines;
}

/// Returns each title with its facts indented below.
std::vector<std::string> linesOf(const std::vector<DescribedThing>& things) {
    std::vector<std::string> lines;
    for (const DescribedThing& thing : things) {
        lines.push_back(thing.title);
        for (const Property& fact : thing.facts) lines.push_back(fmt::format("  {:<15} {}", fact.name, fact.value));
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

/// Returns pairs of start and end; null for a process that was recorded throughout.
Json windowsOf(const Process& process) {
    if (!process.hasWindows) return {};
    Json windows = Json::array();
    for (const TimeRange& window : process.windows) windows.push_back({window.startNs, window.endNs});
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
    const auto facts = std::ranges::find(trace.gpuFacts, gpu.id, &GpuFacts::gpu);
    return {{"id", gpu.id},
            {"name", gpu.name},
            {"uuid", gpu.uuid},
            {"busLocation", gpu.busLocation},
            {"memoryBytes", gpu.memoryBytes},
            {"smCount", gpu.smCount},
            {"computeMajor", gpu.computeMajor},
            {"computeMinor", gpu.computeMinor},
            {"properties", facts == trace.gpuFacts.end() ? Json::object() : asObject(propertiesOf(*facts))}};
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

/// Returns the PID of the note's process if the trace contains it.
Json pidOf(const Trace& trace, const HealthNote& note) {
    for (const Process& process : trace.processes)
        if (note.globalPid == process.globalPid) return process.pid;
    return {};
}

Json noteAsJson(const Trace& trace, const HealthNote& note) {
    return {{"severity", identifier(note.severity)}, {"code", codeOf(note)},        {"pid", pidOf(trace, note)},
            {"timeNs", orNull(note.timeNs)},         {"count", orNull(note.count)}, {"sentence", note.sentence}};
}

/// Returns the connections of the trace's GPUs as the matrix of `nvidia-smi topo -m`, the use of
/// NVLink, and the traffic of each GPU pair. Ends with a line break.
std::string topologyAsText(const Trace& trace) {
    const TopologyDescription topology = describeTopology(trace);
    if (topology.gpus.empty()) return "The trace lists no GPU.\n";
    std::string text = names(trace);
    if (!text.empty()) text += "\n";
    text += matrix(trace, topology.gpus);
    text += "\nNVLink\n";
    for (const std::string& sentence : topology.verdict.sentences) text += "  " + printable(sentence) + "\n";
    if (!topology.uses.empty()) text += "\nCopies from GPU to GPU\n\n" + pairs(topology.uses);
    if (!topology.uses.empty() && topology.verdict.bytes > 0)
        text +=
            "\nKernels, such as NCCL's, move bytes without copies. Counters include these bytes, per link:\n'lanescope "
            "stats -r nvlink'.\n";
    return text;
}

/// Returns the same as JSON: "gpus", "links", "nvlink".
std::string topologyAsJson(const Trace& trace) {
    const TopologyDescription topology = describeTopology(trace);
    Json json;
    json["gpus"] = Json::array();
    for (const int64_t gpu : topology.gpus) {
        const GpuAffinity* const affinity = affinityOf(trace, gpu);
        const auto pcie = peakOfPcie(trace, gpu);
        const Gpu* const info = gpuNumbered(trace, gpu);
        json["gpus"].push_back({{"id", gpu},
                                {"name", info ? Json(info->name) : Json()},
                                {"uuid", info ? Json(info->uuid) : Json()},
                                {"isMig", info ? Json(isMigDevice(*info)) : Json()},
                                {"cpuAffinity", affinity && !affinity->cpus.empty() ? Json(affinity->cpus) : Json()},
                                {"numaNode", affinity && affinity->numaNode >= 0 ? Json(affinity->numaNode) : Json()},
                                {"nvlinks", nvlinksOf(trace, gpu)},
                                {"pciePeakGBps", pcie ? Json(pcie->gigabytesPerSecond) : Json()}});
    }
    json["links"] = Json::array();
    for (const LinkUse& use : topology.uses)
        json["links"].push_back({{"gpu", use.gpu},
                                 {"peer", use.peer},
                                 {"abbreviation", use.connection ? Json(use.connection->abbreviation) : Json()},
                                 {"connection", use.connection ? Json(use.connection->name) : Json()},
                                 {"nvlinks", use.connection ? Json(use.connection->nvlinks) : Json()},
                                 {"copies", use.copyCount},
                                 {"bytes", use.copyBytes},
                                 {"busyNs", use.copyBusyNs},
                                 {"meanGBps", orNull(use.meanGBps())},
                                 {"peakGBps", use.peak ? Json(use.peak->gigabytesPerSecond) : Json()},
                                 {"peakOrigin", use.peak ? Json(name(use.peak->origin)) : Json()},
                                 {"peakPercent", orNull(use.peakPercent())}});
    const NvlinkVerdict& verdict = topology.verdict;
    json["nvlink"] = {{"use", identifier(verdict.use)},
                      {"evidence", identifier(verdict.evidence)},
                      {"activeLinks", verdict.activeLinks},
                      {"bytes", verdict.bytes},
                      {"bestGBps", verdict.bestGBps > 0 ? Json(verdict.bestGBps) : Json()},
                      {"bytesPerStep", orNull(verdict.bytesPerStep)},
                      {"sentences", verdict.sentences}};
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

/// Returns the text of `lanescope info`: producer, host, processes, GPUs, counts, health.
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
    appendSection(text, "Warnings", linesOf(description.health));
    return text;
}

/// Returns the same as one JSON object; times in nanoseconds. Always valid UTF-8.
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
    for (const Process& process : trace.processes) json["processes"].push_back(processAsJson(process));
    json["counts"] = Json::array();
    for (const EventCount& count : trace.counts)
        json["counts"].push_back({{"name", count.name}, {"total", count.total}, {"untimed", count.untimed}});
    json["peakMemory"] = Json::array();
    for (const MemoryPeak& peak : description.memoryPeaks)
        json["peakMemory"].push_back({{"name", peak.name},
                                      {"owner", peak.owner},
                                      {"gpu", orNull(peak.gpu)},
                                      {"pid", orNull(peak.pid)},
                                      {"bytes", peak.bytes}});
    json["health"] = Json::array();
    for (const HealthNote& note : description.health) json["health"].push_back(noteAsJson(trace, note));
    return withoutControls(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

struct InfoOptions {
    std::string file;
    std::string format = "text";
    bool isTopology = false;
};

Result<void> runInfo(const InfoOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    Result<Output> output = Output::open();
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    const bool isJson = options.format == "json";
    const std::string text = options.isTopology ? (isJson ? topologyAsJson(**trace) : topologyAsText(**trace))
                                                : (isJson ? infoAsJson(**trace) : infoAsText(**trace));
    output->write(text);
    return output->close();
}

}  // namespace

void addInfo(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command = app.add_subcommand("info", "Print the contents of a trace: host, processes, GPUs, warnings");
    command->add_option("FILE", options->file, readableFormats())->required();
    addFormat(*command, options->format, {"text", "json"});
    command->add_flag("--topology", options->isTopology,
                      "Show how the GPUs are connected, whether NVLink was used, and the bytes copied over each link");
    command->footer(
        "Examples:\n  lanescope info run.sqlite\n  lanescope info run.sqlite --topology\n  lanescope info run.sqlite "
        "--format json");
    command->callback([options, &exitStatus] { exitStatus = statusOf(runInfo(*options)); });
}

}  // namespace lanescope::cli
