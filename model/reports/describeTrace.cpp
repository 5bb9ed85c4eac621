// SPDX-License-Identifier: Apache-2.0
#include "model/reports/describeTrace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "model/format/factNames.h"
#include "model/format/parseNumber.h"
#include "model/text/formatValue.h"
#include "model/trace/gpuNames.h"
#include "model/trace/healthNotes.h"

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
    {unknown, "unknown"},
}};

template <class T, class Number>
const T* findNumbered(const std::vector<T>& all, Number T::*number, Number wanted) {
    const auto found = std::ranges::find_if(all, [&](const T& each) { return each.*number == wanted; });
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

/// Returns true if the pairs are all of three or more GPUs, numbered without a gap, and are connected alike.
bool isUniform(const std::vector<const GpuConnection*>& pairs) {
    size_t gpus = 2;
    while (gpus * (gpus - 1) / 2 < pairs.size()) ++gpus;
    if (gpus < 3 || gpus * (gpus - 1) / 2 != pairs.size()) return false;
    const GpuConnection& first = *pairs.front();
    return std::ranges::all_of(pairs, [&](const GpuConnection* pair) {
        return areAlike(*pair, first) && pair->peer - first.gpu < static_cast<int64_t>(gpus);
    });
}

constexpr size_t maxLinkLines = 28;  ///< Number of pairs of eight GPUs.

/// Returns "2026-03-04 05:06:07 UTC"; empty if unknown.
std::string startTime(const Trace& trace) {
    if (trace.startUtcNs <= 0) return {};
    const auto seconds = static_cast<std::time_t>(trace.startUtcNs / 1'000'000'000);
    std::tm parts{};
    if (!::gmtime_r(&seconds, &parts)) return {};
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

std::string shownValue(const FactName& name, const auto& value) { return factText(name, value); }
std::string shownValue(const FactName& name, const std::optional<int64_t>& value) {
    if (value && name.unit == FactUnit::Bytes) return formatBytes(*value);
    if (value && name.unit == FactUnit::CuptiVersion) return *value == 0 ? std::string() : cuptiVersionText(*value);
    return factText(name, value);
}

/// A list of facts that omits unknown ones.
class Lines {
  public:
    void add(std::string name, std::string value) {
        if (!value.empty()) lines_.push_back({std::move(name), std::move(value)});
    }
    /// Adds the facts with a member of their own, with their display names, except those in `said`.
    void add(const auto& facts, const std::set<const void*>& said, const std::string& before = {}) {
        forEachFact(facts, [&](const FactName& name, const auto& value) {
            if (!said.contains(&value)) add(before + std::string(name.shown), shownValue(name, value));
        });
    }
    /// Adds the facts with a member, as in the file; `nameOf` maps identifiers to the names there.
    void addNamed(const auto& facts, auto nameOf) {
        forEachFact(facts, [&](const FactName& name, const auto& value) {
            add(nameOf(name.identifier), factText(name, value));
        });
    }
    void addNamed(const auto& facts) {
        addNamed(facts, [](std::string_view name) { return std::string(name); });
    }
    void add(const std::vector<Property>& others) { lines_.insert(lines_.end(), others.begin(), others.end()); }
    std::vector<Property> take() { return std::move(lines_); }

  private:
    std::vector<Property> lines_;
};

/// Returns "box: NVML was read" if there are several hosts.
std::string ofHost(const std::string& host, std::string_view name) {
    return host.empty() ? std::string(name) : fmt::format("{}: {}", host, name);
}

void addSamplers(Lines& lines, const SamplerFacts& samplers) {
    forEachFact(samplers, [&](const FactName& name, const std::string& value) {
        // "GPM readings" are "every 400 ms", not "GPM every 400 ms".
        const std::string_view own = name.shown.substr(0, name.shown.find(' ') + 1);
        lines.add(ofHost(samplers.host, name.shown), value.substr(value.starts_with(own) ? own.size() : 0));
    });
    for (const SampledGpuFacts& gpu : samplers.gpus)
        forEachFact(gpu, [&](const FactName& name, const std::string& value) {
            lines.add(ofHost(samplers.host, fmt::format("{} (CUDA's GPU {})", name.shown, gpu.cudaDevice)), value);
        });
}

void addLinks(Lines& lines, const Trace& trace) {
    const std::vector<LinkLine> links = linkLines(trace);
    for (size_t index = 0; index < std::min(links.size(), maxLinkLines); ++index)
        lines.add(links[index].gpus, links[index].text());
    if (links.size() > maxLinkLines) lines.add("More pairs of GPUs", fmt::format("{}", links.size() - maxLinkLines));
}

std::vector<Property> describeRun(const Trace& trace) {
    Lines lines;
    lines.add("File", trace.path.string());
    lines.add("Producer", trace.producer);
    lines.add("Recorded", startTime(trace));
    lines.add("Duration", formatDuration(trace.range.durationNs()));
    // Relative to the same start as --range and the ruler of the timeline.
    if (!trace.isEmpty())
        lines.add("Event times",
                  fmt::format("{:.3f} s to {:.3f} s of the timeline", static_cast<double>(trace.range.startNs) / 1e9,
                              static_cast<double>(trace.range.endNs) / 1e9));
    const RunFacts& facts = trace.facts;
    lines.add(facts, {&facts.recorderVersion});  // The producer.
    for (const HostName& host : facts.hosts) lines.add(fmt::format("Host {}", host.number), host.name);
    for (const SamplerFacts& samplers : facts.samplers) addSamplers(lines, samplers);
    lines.add(facts.others);
    addLinks(lines, trace);
    // GPUs without other facts.
    for (const GpuFacts& each : trace.gpuFacts) {
        if (gpuNumbered(trace, each.gpu) != nullptr) continue;
        const std::string before = fmt::format("GPU {}: ", each.gpu);
        lines.add(each, {}, before);
        for (const Property& fact : each.others) lines.add(before + fact.name, fact.value);
    }
    return lines.take();
}

DescribedThing describeGpu(const Trace& trace, const Gpu& gpu) {
    const auto found = std::ranges::find_if(trace.gpuFacts, [&](const GpuFacts& each) { return each.gpu == gpu.id; });
    const GpuFacts facts = found == trace.gpuFacts.end() ? GpuFacts() : *found;
    std::string line = fmt::format("GPU {}{}{}", gpu.id, gpu.name.empty() ? "" : "  ", gpu.name);
    if (gpu.smCount > 0) line += fmt::format(", {} {}", gpu.smCount, processorsName(gpu));
    if (gpu.computeMajor > 0) line += fmt::format(", sm_{}{}", gpu.computeMajor, gpu.computeMinor);
    if (gpu.memoryBytes > 0) line += ", " + formatBytes(gpu.memoryBytes);
    if (facts.pcieGeneration) line += fmt::format(", PCIe {}", *facts.pcieGeneration);
    if (facts.pcieGeneration && facts.pcieWidth) line += fmt::format(" x{}", *facts.pcieWidth);
    if (facts.nvlinkCount) line += fmt::format(", {} NVLinks", *facts.nvlinkCount);
    if (!gpu.busLocation.empty()) line += ", " + gpu.busLocation;
    return {std::move(line), facts.others};
}

std::string processTitle(const Process& process) {
    std::string line = fmt::format("PID {}{}{}", process.pid, process.name.empty() ? "" : "  ", process.name);
    if (process.rank) line += fmt::format(", rank {}", *process.rank);
    if (process.rank && process.worldSize) line += fmt::format(" of {}", *process.worldSize);
    if (process.localRank) line += fmt::format(", local rank {}", *process.localRank);
    if (process.facts->isForked) line += ", forked";
    if (process.facts->endSignal) line += fmt::format(", ended by signal {}", *process.facts->endSignal);
    if (process.endedAbnormally) line += ", no exit record";
    return line;
}

std::string windowsText(const Process& process) {
    if (!process.hasWindows) return {};
    int64_t recordedNs = 0;
    for (const TimeRange& window : process.windows) recordedNs += window.intersected(process.range).durationNs();
    return fmt::format("{}, {} recorded", process.windows.size(), formatDuration(recordedNs));
}

/// Adds "12 NVTX calls in 2 intervals", one line per kind of loss.
void addLosses(Lines& lines, const Process& process) {
    struct Total {
        int64_t count = 0;
        int64_t intervals = 0;
    };
    std::map<Loss, Total> totals;
    for (const Gap& gap : process.gaps) {
        Total& total = totals[gap.what];
        total.count += std::min(gap.count, INT64_MAX - total.count);
        ++total.intervals;
    }
    for (const auto& entry : totals)
        lines.add("Lost", fmt::format("{} in {} interval{}", lostText(entry.first, entry.second.count),
                                      entry.second.intervals, entry.second.intervals == 1 ? "" : "s"));
}

/// Describes facts that are neither in the title nor in the run.
DescribedThing describeProcess(const Process& process, const RunFacts& run) {
    const ProcessFacts& facts = *process.facts;
    std::set<const void*> said{&facts.program, &facts.processName, &facts.bootId, &facts.endSignal, &facts.isForked};
    if (facts.commandLine == run.commandLine) said.insert(&facts.commandLine);
    if (run.host.empty() || facts.host == run.host) said.insert(&facts.host);
    if (run.recorderVersion.empty() || facts.agentVersion == run.recorderVersion) said.insert(&facts.agentVersion);
    Lines lines;
    lines.add(facts, said);
    lines.add("Windows", windowsText(process));
    addLosses(lines, process);
    lines.add(facts.others);
    return {processTitle(process), lines.take()};
}

std::vector<Property> describeCounts(const Trace& trace) {
    std::vector<Property> lines;
    for (const EventCount& count : trace.counts) {
        std::string value = formatCount(count.total);
        if (count.untimed > 0) value += fmt::format(", {} of them without a time", formatCount(count.untimed));
        lines.push_back({count.name, value});
    }
    return lines;
}

/// Returns true if the counter is about used memory, not about its total.
bool isUsedMemory(const CounterSeries& series) {
    constexpr std::string_view amounts[] = {"memory.total", "memory.available", "cgroup.memory.limit"};
    return series.unit == CounterUnit::Bytes &&
           std::find(std::begin(amounts), std::end(amounts), series.key) == std::end(amounts);
}

std::string ownerOf(const Trace& trace, const CounterSeries& series) {
    std::string owner;
    if (series.gpu != noIndex) owner = fmt::format("GPU {}", trace.gpus[series.gpu].id);
    if (series.process != noIndex) {
        const Process& process = trace.processes[series.process];
        owner += fmt::format("{}process {}", owner.empty() ? "" : ", ", process.pid);
        const std::string_view name = programName(process);
        if (!name.empty()) owner += fmt::format(" ({})", name);
    }
    return owner.empty() ? "host" : owner;
}

std::vector<MemoryPeak> describeMemory(const Trace& trace) {
    std::vector<MemoryPeak> peaks;
    for (const CounterSeries& series : trace.counters) {
        if (!isUsedMemory(series)) continue;
        MemoryPeak peak{.name = series.name, .owner = ownerOf(trace, series)};
        if (series.gpu != noIndex) peak.gpu = trace.gpus[series.gpu].id;
        if (series.process != noIndex) peak.pid = trace.processes[series.process].pid;
        peak.bytes = static_cast<int64_t>(series.maximum());
        // The owner precedes it already.
        std::string what = series.key == "memory.rss" ? "resident memory" : series.name;
        if (what.size() > 1 && std::islower(static_cast<unsigned char>(what[1])) != 0)
            what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
        peak.line = {peak.owner + ": " + what, formatCounter(series.maximum(), series.unit)};
        peaks.push_back(std::move(peak));
    }
    return peaks;
}

std::string textOf(const std::optional<int>& value) { return value ? std::to_string(*value) : std::string(); }

}  // namespace

TopologyDescription describeTopology(const Trace& trace, std::optional<TimeRange> range) {
    TopologyDescription description{.uses = linkUse(trace, range), .verdict = judgeNvlink(trace, range)};
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
    const int links = parseNumber<int>(word.substr(nvlinkPrefix.size())).value_or(0);
    if (links <= 0) return {};
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

std::string cuptiVersionText(int64_t number) {
    if (number < 100'000) return fmt::format("(API version {})", number);
    return fmt::format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
}

DescribedTrace describeTrace(const Trace& trace) {
    DescribedTrace description{.run = describeRun(trace)};
    for (const Gpu& gpu : trace.gpus) description.gpus.push_back(describeGpu(trace, gpu));
    for (const Process& process : trace.processes)
        description.processes.push_back(describeProcess(process, trace.facts));
    description.counts = describeCounts(trace);
    description.memoryPeaks = describeMemory(trace);
    description.health = healthNotesOf(trace);
    return description;
}

std::vector<Property> propertiesOf(const RunFacts& facts) {
    Lines properties;
    properties.addNamed(facts);
    for (const HostName& host : facts.hosts) properties.add(numberedFactName(facts::host, host.number), host.name);
    for (const SamplerFacts& samplers : facts.samplers) {
        properties.addNamed(samplers, [&](std::string_view name) { return hostFactName(samplers.host, name); });
        for (const SampledGpuFacts& gpu : samplers.gpus)
            properties.addNamed(gpu, [&](std::string_view name) {
                return hostFactName(samplers.host, numberedFactName(name, gpu.cudaDevice));
            });
    }
    properties.add(facts.others);
    return properties.take();
}

std::vector<Property> propertiesOf(const Process& process) {
    Lines properties;
    properties.add(std::string(facts::rank), textOf(process.rank));
    properties.add(std::string(facts::localRank), textOf(process.localRank));
    properties.add(std::string(facts::worldSize), textOf(process.worldSize));
    properties.addNamed(*process.facts);
    properties.add(process.facts->others);
    return properties.take();
}

std::vector<Property> propertiesOf(const GpuFacts& facts) {
    Lines properties;
    properties.addNamed(facts);
    properties.add(facts.others);
    return properties.take();
}

}  // namespace lanescope
