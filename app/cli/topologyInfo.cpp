// SPDX-License-Identifier: Apache-2.0
#include "app/cli/topologyInfo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "model/bandwidth/describeTopology.h"
#include "model/values/displayWidth.h"
#include "model/values/formatValue.h"

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
            if (column + 1 < line.size())
                row.append(widths[column] - displayWidth(line[column]) + 2, ' ');
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
        line.push_back(affinity && affinity->numaNode >= 0 ? fmt::format("{}", affinity->numaNode)
                                                           : "N/A");
        lines.push_back(std::move(line));
    }
    std::string text = aligned(lines) + "\n";
    for (const std::string& word : words)
        if (const std::string meaning = meaningOfWord(word); !meaning.empty())
            text += printable(fmt::format("  {:<5} {}", word, meaning)) + "\n";
    return text;
}

/// "GPU 0  NVIDIA H200, GPU-4b1c...": which one a number means.
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
        const auto peak = use.peak ? fmt::format("{:.3g} GB/s ({})", use.peak->gigabytesPerSecond,
                                                 name(use.peak->origin))
                                   : std::string("unknown");
        const bool isUsed = use.copyCount > 0;
        lines.push_back({fmt::format("GPU {}", use.gpu), fmt::format("GPU {}", use.peer),
                         wordFor(use.connection), isUsed ? formatBytes(use.copyBytes) : "no copies",
                         isUsed ? number(use.meanGBps(), "GB/s") : "", peak,
                         isUsed ? number(use.peakPercent(), "%") : ""});
    }
    return aligned(lines);
}

template <class T>
Json orNull(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

}  // namespace

std::string topologyAsText(const Trace& trace) {
    const TopologyDescription topology = describeTopology(trace);
    if (topology.gpus.empty()) return "The trace tells of no GPU.\n";
    std::string text = names(trace);
    if (!text.empty()) text += "\n";
    text += matrix(trace, topology.gpus);
    text += "\nNVLink\n";
    for (const std::string& sentence : topology.verdict.sentences)
        text += "  " + printable(sentence) + "\n";
    if (!topology.uses.empty()) text += "\nCopies from GPU to GPU\n\n" + pairs(topology.uses);
    if (!topology.uses.empty() && topology.verdict.bytes > 0)
        text +=
            "\nKernels, such as NCCL's, move bytes without copies; the counters know those as "
            "well, "
            "by link:\n'lanescope stats -r nvlink'.\n";
    return text;
}

std::string topologyAsJson(const Trace& trace) {
    const TopologyDescription topology = describeTopology(trace);
    Json json;
    json["gpus"] = Json::array();
    for (const int64_t gpu : topology.gpus) {
        const GpuAffinity* const affinity = affinityOf(trace, gpu);
        const auto pcie = peakOfPcie(trace, gpu);
        const Gpu* const info = gpuNumbered(trace, gpu);
        json["gpus"].push_back(
            {{"id", gpu},
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
        json["links"].push_back(
            {{"gpu", use.gpu},
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

}  // namespace lanescope::cli
