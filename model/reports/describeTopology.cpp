// SPDX-License-Identifier: Apache-2.0
#include "model/reports/describeTopology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace lanescope {

namespace {

constexpr std::string_view itself = "X", unknown = "?", nvlinkPrefix = "NV";

struct Meaning {
    std::string_view word, meaning;
};
constexpr std::array<Meaning, 7> meanings{{
    {itself, "the GPU itself"},
    {"PIX", "at most one PCIe bridge between them"},
    {"PXB", "several PCIe bridges, but not the host's"},
    {"PHB", "through the PCIe host bridge of the processor"},
    {"NODE", "through several host bridges of one NUMA node"},
    {"SYS", "from one NUMA node to another"},
    {unknown, "the trace does not say"},
}};

template <class T, class Number>
const T* findNumbered(const std::vector<T>& all, Number T::*number, Number wanted) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const T& each) { return each.*number == wanted; });
    return found == all.end() ? nullptr : &*found;
}

/// Returns for each pair the connection from the lower number to the higher.
std::vector<const GpuConnection*> pairsOf(const Trace& trace) {
    std::vector<const GpuConnection*> pairs;
    for (const GpuConnection& each : trace.interconnect.connections)
        if (each.gpu < each.peer) pairs.push_back(&each);
    return pairs;
}

bool areAlike(const GpuConnection& a, const GpuConnection& b) { return a.name == b.name && a.nvlinks == b.nvlinks; }

/// Returns true if the pairs are all possible ones among three or more GPUs that are numbered
/// without a gap, and all are connected in the same way.
bool isUniform(const std::vector<const GpuConnection*>& pairs) {
    size_t gpus = 2;
    while (gpus * (gpus - 1) / 2 < pairs.size()) ++gpus;
    if (gpus < 3 || gpus * (gpus - 1) / 2 != pairs.size()) return false;
    const GpuConnection& first = *pairs.front();
    return std::all_of(pairs.begin(), pairs.end(), [&](const GpuConnection* pair) {
        return areAlike(*pair, first) && pair->peer - first.gpu < static_cast<int64_t>(gpus);
    });
}

}  // namespace

TopologyDescription describeTopology(const Trace& trace, std::optional<TimeRange> range) {
    TopologyDescription description;
    description.uses = linkUse(trace, range);
    description.verdict = judgeNvlink(trace, range);
    std::set<int64_t> gpus;
    for (const Gpu& gpu : trace.gpus) gpus.insert(gpu.id);
    for (const GpuConnection& each : trace.interconnect.connections) gpus.insert({each.gpu, each.peer});
    for (const GpuAffinity& affinity : trace.interconnect.affinities) gpus.insert(affinity.gpu);
    gpus.erase(noGpuId);
    description.gpus.assign(gpus.begin(), gpus.end());
    return description;
}

const Gpu* gpuNumbered(const Trace& trace, int64_t gpu) { return findNumbered(trace.gpus, &Gpu::id, gpu); }

const GpuAffinity* affinityOf(const Trace& trace, int64_t gpu) {
    return findNumbered(trace.interconnect.affinities, &GpuAffinity::gpu, gpu);
}

std::string wordFor(const GpuConnection* connection) {
    if (connection == nullptr) return std::string(unknown);
    if (!connection->abbreviation.empty()) return connection->abbreviation;
    return connection->name.empty() ? std::string(unknown) : connection->name;
}

std::string meaningOfWord(std::string_view word) {
    for (const Meaning& each : meanings)
        if (each.word == word) return std::string(each.meaning);
    if (!word.starts_with(nvlinkPrefix)) return {};
    const std::string_view digits = word.substr(nvlinkPrefix.size());
    int links = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), links);
    if (error != std::errc() || stop != digits.data() + digits.size() || links <= 0) return {};
    return links == 1 ? "1 NVLink" : fmt::format("{} NVLinks, bonded", links);
}

std::string LinkLine::text() const {
    if (nvlinks <= 0) return connection;
    return fmt::format("{}, {} link{}", connection.empty() ? "NVLink" : connection, nvlinks, nvlinks == 1 ? "" : "s");
}

std::vector<LinkLine> linkLines(const Trace& trace) {
    const std::vector<const GpuConnection*> pairs = pairsOf(trace);
    std::vector<LinkLine> lines;
    if (isUniform(pairs)) {
        const GpuConnection& first = *pairs.front();
        lines.push_back({fmt::format("between any two of GPU {}\u2013{}", first.gpu, pairs.back()->peer), first.name,
                         first.nvlinks});
        return lines;
    }
    for (const GpuConnection* pair : pairs)
        lines.push_back({fmt::format("GPU {}\u2013GPU {}", pair->gpu, pair->peer), pair->name, pair->nvlinks});
    return lines;
}

}  // namespace lanescope
