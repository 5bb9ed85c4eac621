// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "model/format/tables/Hardware.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/MixedMap.h"
#include "model/text/formatValue.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/CounterSample.h"

namespace lanescope {

namespace {

constexpr size_t maxConnections = 1 << 13;
constexpr int64_t maxTopologyGpu = 1 << 16;

/// Returns nvidia-smi's abbreviation of a connection, for files without it.
std::string abbreviationOf(std::string_view name, int32_t nvlinks) {
    if (nvlinks > 0) return fmt::format("NV{}", nvlinks);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> words{{{"same board", "PIX"},
                                                                                         {"PCIe switch", "PIX"},
                                                                                         {"PCIe switches", "PXB"},
                                                                                         {"host bridge", "PHB"},
                                                                                         {"NUMA node", "NODE"},
                                                                                         {"system", "SYS"}}};
    for (const auto& [connection, word] : words)
        if (connection == name) return std::string(word);
    return {};
}

void keepConnection(Interconnect& interconnect, TableReader<tables::Topology>& reader, int64_t gpu, int64_t peer) {
    constexpr const auto& t = tables::topology;
    if (gpu < 0 || peer < 0 || gpu > maxTopologyGpu || peer > maxTopologyGpu) return;
    GpuConnection connection{.gpu = gpu, .peer = peer};
    connection.nvlinks =
        static_cast<int32_t>(std::clamp<int64_t>(reader.integerOr(t.nvlinkCount, 0), 0, maxTopologyGpu));
    connection.name = reader.text(t.connection);
    connection.abbreviation = reader.text(t.abbreviation);
    if (connection.abbreviation.empty()) connection.abbreviation = abbreviationOf(connection.name, connection.nvlinks);
    interconnect.connections.push_back(std::move(connection));
}

/// Sorts connections, adds missing reverse directions, and removes duplicates.
void tidy(std::vector<GpuConnection>& connections) {
    const size_t count = connections.size();
    for (size_t index = 0; index < count; ++index) {
        connections.push_back(connections[index]);
        std::swap(connections.back().gpu, connections.back().peer);
    }
    const auto key = [](const GpuConnection& each) { return std::pair(each.gpu, each.peer); };
    std::ranges::stable_sort(connections, {}, key);
    const auto repeated = std::ranges::unique(connections, {}, key);
    connections.erase(repeated.begin(), repeated.end());
}

constexpr size_t maxPeaks = 1 << 14;
constexpr size_t maxSampledRanges = 1 << 20;
constexpr size_t maxProcessUses = 1 << 22;
constexpr int64_t maxGpuNumber = 1 << 16;
/// More than any link or memory transfers per second. A higher value means a corrupt file.
constexpr int64_t maxRate = int64_t{1} << 50;
constexpr int64_t maxLinkCount = 1 << 16;

template <class Table>
int64_t gpuIn(TableReader<Table>& reader, tables::ColumnOf<Table> column) {
    const int64_t number = reader.integerOr(column, noGpuId);
    return number >= 0 && number <= maxGpuNumber ? number : noGpuId;
}

template <class Table>
int32_t countIn(TableReader<Table>& reader, tables::ColumnOf<Table> column) {
    return static_cast<int32_t>(std::clamp<int64_t>(reader.integerOr(column, 0), 0, maxLinkCount));
}

LinkDirection directionFrom(std::string_view text) {
    if (text == "tx" || text == "DtoH") return LinkDirection::Transmit;
    if (text == "rx" || text == "HtoD") return LinkDirection::Receive;
    return LinkDirection::Unknown;
}

MemoryKind memoryFrom(std::string_view text) {
    if (text == "pinned") return MemoryKind::Pinned;
    if (text == "pageable") return MemoryKind::Pageable;
    return MemoryKind::Unknown;
}

void readAffinities(LoadContext& context) {
    std::vector<GpuAffinity>& affinities = context.description().interconnect.affinities;
    constexpr const auto& t = tables::affinities;
    TableReader reader(context, t, {t.gpuId, t.cpus, t.numaNode}, "description");
    while (reader.next()) {
        const int64_t gpu = gpuIn<tables::Affinities>(reader, t.gpuId);
        const int64_t node = reader.integerOr(t.numaNode, -1);
        if (reader.skipRowIf(gpu == noGpuId || affinities.size() >= maxPeaks)) continue;
        const bool isNode = node >= 0 && node <= maxLinkCount;
        affinities.push_back({gpu, std::string(reader.text(t.cpus)), isNode ? static_cast<int32_t>(node) : -1});
    }
    std::ranges::stable_sort(affinities, {}, &GpuAffinity::gpu);
}

struct RangeTimes {
    std::optional<int64_t> startNs, endNs;
    TimeRange startReading, endReading;
};

/// Returns an empty reading if it is unknown or out of the range of times.
TimeRange readingIn(TableReader<tables::SamplingMoments>& reader) {
    const std::optional<int64_t> startNs = reader.integer(tables::samplingMoments.readStart),
                                 endNs = reader.integer(tables::samplingMoments.readEnd);
    const bool isKnown =
        startNs && endNs && *startNs < *endNs && *startNs >= -maxTimestampNs && *endNs <= maxTimestampNs;
    return isKnown ? TimeRange{*startNs, *endNs} : TimeRange{};
}

constexpr int64_t maxNumber = 1 << 16;  ///< Maximum number of a link or a core.
/// A day, longer than any real interval.
constexpr int64_t maxIntervalNs = int64_t{24} * 3600 * 1'000'000'000;

struct ReadCounter {
    explicit ReadCounter(LargeMemory* memory) {
        samples.timesNs = LargeVector<int64_t>(memory);
        samples.values = LargeVector<long double>(memory);
    }

    CounterSeries series;
    CounterSamples samples;
    long double factor = 1;  ///< From the file's unit to ours.
};
using Counters = MixedMap<int64_t, ReadCounter>;

using CountersReader = TableReader<tables::Counters>;
constexpr const auto& c = tables::counters;

int32_t numberIn(CountersReader& reader, tables::ColumnOf<tables::Counters> column) {
    const int64_t number = reader.integerOr(column, -1);
    return number >= 0 && number < maxNumber ? static_cast<int32_t>(number) : -1;
}

/// Finds the subject of a row. Returns false if the file has more GPUs or processes than the maximum.
bool findSubject(CountersReader& reader, Identities& identities, CounterSeries& series) {
    if (const std::optional<int64_t> gpu = reader.integer(c.gpuId)) {
        series.gpu = identities.gpuNumbered(*gpu);
        if (series.gpu == noIndex) return false;
    }
    if (const std::optional<int64_t> pid = reader.integer(c.globalPid)) {
        series.process = identities.process(*pid);
        if (series.process == noIndex) return false;
    }
    return true;
}

Counters readDefinitions(LoadContext& context, FileDirectory& directory) {
    Counters counters;
    CountersReader reader(context, c,
                          {c.counterId, c.source, c.name, c.title, c.unit, c.meaning, c.gpuId, c.globalPid, c.link,
                           c.core, c.device, c.wrapBits, c.intervalNs},
                          "counters");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(c.counterId);
        const int64_t meaning = reader.integerOr(c.meaning, 0);
        ReadCounter counter(context.builder().memory());
        if (reader.skipRowIf(!id || meaning < 0 || meaning > static_cast<int64_t>(CounterMeaning::Amount) ||
                             counters.size() >= context.builder().remainingCounters() ||
                             !findSubject(reader, directory.identities, counter.series)))
            continue;
        counter.series.key = reader.text(c.name);
        counter.series.source = reader.text(c.source);
        counter.series.name = reader.text(c.title);
        if (counter.series.name.empty()) counter.series.name = counter.series.key;
        counter.series.link = numberIn(reader, c.link);
        counter.series.core = numberIn(reader, c.core);
        counter.series.device = reader.text(c.device);
        counter.series.intervalNs = std::clamp<int64_t>(reader.integerOr(c.intervalNs, 0), 0, maxIntervalNs);
        counter.samples.unit = fromIdentifier(reader.text(c.unit), CounterUnit::Flags).value_or(CounterUnit::Count);
        counter.samples.meaning = static_cast<CounterMeaning>(meaning);
        counter.samples.intervalNs = counter.series.intervalNs;
        counter.samples.wrapBits = numberIn(reader, c.wrapBits);
        counters.try_emplace(*id, std::move(counter));
    }
    return counters;
}

void readSamples(LoadContext& context, Counters& counters) {
    constexpr const auto& t = tables::counterSamples;
    TableReader reader(context, t, {t.counterId, t.timestamp, t.value}, "counter samples");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.counterId);
        const auto found = id ? counters.find(*id) : counters.end();
        if (reader.skipRowIf(found == counters.end())) continue;
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        if (!timeNs) continue;
        found->second.samples.timesNs.push_back(*timeNs);
        found->second.samples.values.push_back(reader.number(t.value));
    }
    reader.countAs(kinds::CounterSample::plural);
}

/// Metrics that CUPTI or Nsight Systems sampled on a GPU, by type and metric.
using MetricId = std::pair<int64_t, int64_t>;
using Metrics = std::map<MetricId, ReadCounter>;

/// Derives the unit and key of a metric from its name: "SMs Active [Throughput %]", "PCIe Read Bytes [B]", "GPC Clock
/// Frequency [MHz]". Bytes of NVLinks get the same key as those of other samplers.
void describeMetric(ReadCounter& counter) {
    const std::string_view name = counter.series.key;
    CounterSamples& samples = counter.samples;
    samples.meaning = CounterMeaning::Average;
    if (contains(name, "%")) {
        samples.unit = CounterUnit::Percent;
    } else if (contains(name, "[B]")) {
        samples.unit = CounterUnit::Bytes;
        samples.meaning = CounterMeaning::Amount;
    } else if (contains(name, "B/s")) {
        samples.unit = CounterUnit::BytesPerSecond;
    } else if (contains(name, "[MHz]") || contains(name, "[Hz]")) {
        samples.unit = CounterUnit::Hertz;
        if (contains(name, "[MHz]")) counter.factor = 1e6L;
    }
    // The unit is shown next to every value.
    const size_t unit = name.rfind(" [");
    if (unit != std::string_view::npos && unit > 0 && name.ends_with(']')) counter.series.name = name.substr(0, unit);
    const bool isSent = name == "NVLink TX User Data Bytes [B]";
    if (!isSent && name != "NVLink RX User Data Bytes [B]") return;
    counter.series.name = isSent ? "NVLink transmitted" : "NVLink received";
    counter.series.key = isSent ? nvlinkSentKey : nvlinkReceivedKey;
}

Metrics readMetricNames(LoadContext& context, FileDirectory& directory) {
    constexpr int64_t gpuMask = 0xff;  // the low byte of a type is the number of its GPU
    Metrics metrics;
    constexpr const auto& t = tables::gpuMetricNames;
    TableReader reader(context, t, {t.typeId, t.metricId, t.metricName}, "GPU metrics");
    while (reader.next()) {
        const std::optional<int64_t> type = reader.integer(t.typeId);
        const std::optional<int64_t> metric = reader.integer(t.metricId);
        if (reader.skipRowIf(!type || !metric || metrics.size() >= context.builder().remainingCounters())) continue;
        ReadCounter counter(context.builder().memory());
        counter.series.gpu = directory.identities.gpuNumbered(*type & gpuMask);
        counter.series.source = "pm";
        const std::optional<StringIndex> name = reader.string(t.metricName, directory.strings);
        counter.series.name = name ? directory.strings.text(*name) : "GPU metric";
        counter.series.key = counter.series.name;
        describeMetric(counter);
        if (counter.series.gpu != noIndex) metrics.try_emplace({*type, *metric}, std::move(counter));
    }
    return metrics;
}

void readMetricSamples(LoadContext& context, Metrics& metrics) {
    constexpr const auto& t = tables::gpuMetrics;
    TableReader reader(context, t, {t.timestamp, t.typeId, t.metricId, t.value}, "GPU metrics");
    ReadCounter* last = nullptr;  // metrics alternate, or form runs
    MetricId lastId{};
    while (reader.next()) {
        const std::optional<int64_t> type = reader.integer(t.typeId);
        const std::optional<int64_t> metric = reader.integer(t.metricId);
        if (reader.skipRowIf(!type || !metric)) continue;
        if (const MetricId id{*type, *metric}; last == nullptr || id != lastId) {
            const auto found = metrics.find(id);
            last = found == metrics.end() ? nullptr : &found->second;
            lastId = id;
        }
        if (reader.skipRowIf(last == nullptr)) continue;
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        if (!timeNs) continue;
        last->samples.timesNs.push_back(*timeNs);
        last->samples.values.push_back(reader.number(t.value) * last->factor);
    }
    reader.countAs("GPU metric samples");
}

}  // namespace

void readTopology(LoadContext& context) {
    constexpr const auto& t = tables::topology;
    Interconnect& interconnect = context.description().interconnect;
    TableReader reader(context, t, {t.gpuId, t.peerGpuId, t.nvlinkCount, t.connection, t.abbreviation}, "description");
    while (reader.next()) {
        const std::optional<int64_t> gpu = reader.integer(t.gpuId);
        const std::optional<int64_t> peer = reader.integer(t.peerGpuId);
        if (reader.skipRowIf(!gpu || !peer || *gpu == *peer || interconnect.connections.size() >= maxConnections))
            continue;
        keepConnection(interconnect, reader, *gpu, *peer);
    }
    tidy(interconnect.connections);
}

void readLinkPeaks(LoadContext& context) {
    constexpr const auto& t = tables::linkPeaks;
    std::vector<LinkPeak>& peaks = context.description().interconnect.peaks;
    TableReader reader(context, t, "description");
    while (reader.next()) {
        const std::optional<LinkKind> link = fromIdentifier(reader.text(t.kind), LinkKind::HostCopy);
        const int64_t bytesPerSecond = reader.integerOr(t.bytesPerSecond, 0);
        if (reader.skipRowIf(!link || bytesPerSecond <= 0 || bytesPerSecond > maxRate || peaks.size() >= maxPeaks))
            continue;
        peaks.push_back({.kind = *link,
                         .gpu = gpuIn<tables::LinkPeaks>(reader, t.gpuId),
                         .peer = gpuIn<tables::LinkPeaks>(reader, t.peerGpuId),
                         .direction = directionFrom(reader.text(t.direction)),
                         .memory = memoryFrom(reader.text(t.memory)),
                         .bytesPerSecond = bytesPerSecond,
                         .links = countIn<tables::LinkPeaks>(reader, t.links),
                         .generation = countIn<tables::LinkPeaks>(reader, t.generation),
                         .width = countIn<tables::LinkPeaks>(reader, t.width),
                         .origin = reader.text(t.origin) == "measured" ? PeakOrigin::Measured : PeakOrigin::Nominal});
    }
    readAffinities(context);
}

void readRoofs(LoadContext& context) {
    constexpr const auto& t = tables::roofs;
    std::vector<Roof>& roofs = context.description().interconnect.roofs;
    TableReader reader(context, t, "description");
    while (reader.next()) {
        Roof roof;
        const std::string_view kind = reader.text(t.kind);
        roof.kind = kind == "gemm" ? RoofKind::Gemm : RoofKind::Dram;
        roof.gpu = gpuIn<tables::Roofs>(reader, t.gpuId);
        roof.perSecond = reader.integerOr(t.perSecond, 0);
        if (reader.skipRowIf((kind != "gemm" && kind != "dram") || roof.gpu == noGpuId || roof.perSecond <= 0 ||
                             roofs.size() >= maxPeaks))
            continue;
        const auto atLeastZero = [&](const auto& column) { return std::max<int64_t>(reader.integerOr(column, 0), 0); };
        roof.operation = reader.text(t.operation);
        roof.m = atLeastZero(t.m);
        roof.n = atLeastZero(t.n);
        roof.k = atLeastZero(t.k);
        roof.smClockHz = atLeastZero(t.smClockHz);
        roof.powerMilliwatts = atLeastZero(t.powerMilliwatts);
        roof.temperature = atLeastZero(t.temperature);
        roof.software = reader.text(t.software);
        roofs.push_back(std::move(roof));
    }
}

void readSampledRanges(LoadContext& context) {
    constexpr const auto& t = tables::samplingMoments;
    std::map<std::tuple<int64_t, std::string, int64_t>, RangeTimes> found;
    TableReader reader(context, t, "counters");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        if (!timeNs || reader.skipRowIf(found.size() >= maxSampledRanges)) continue;
        RangeTimes& times = found[{reader.integerOr(t.globalPid, 0), std::string(reader.text(t.range)),
                                   reader.integerOr(t.occurrence, 0)}];
        const bool isOfEnd = reader.integerOr(t.isEnd, 0) != 0;
        (isOfEnd ? times.endNs : times.startNs) = *timeNs;
        (isOfEnd ? times.endReading : times.startReading) = readingIn(reader);
    }
    std::vector<SampledRange>& ranges = context.description().interconnect.sampledRanges;
    for (const auto& [key, times] : found) {
        const auto& [pid, name, number] = key;
        // An instance that was open at the end of the run has no second reading.
        if (!times.startNs || !times.endNs || *times.endNs < *times.startNs) continue;
        ranges.push_back({name, number, pid, {*times.startNs, *times.endNs}, times.startReading, times.endReading});
    }
    std::ranges::stable_sort(ranges, {}, [](const auto& each) { return each.range.startNs; });
}

void readGpuProcesses(LoadContext& context) {
    constexpr const auto& t = tables::gpuProcesses;
    std::vector<GpuProcessUse>& uses = context.description().interconnect.gpuProcesses;
    TableReader reader(context, t, {t.timestamp, t.gpuId, t.pid, t.name, t.bytes, t.smPercent}, "counters");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        const int64_t number = gpuIn<tables::GpuProcesses>(reader, t.gpuId);
        if (!timeNs || reader.skipRowIf(number == noGpuId || uses.size() >= maxProcessUses)) continue;
        const auto percent = static_cast<double>(reader.number(t.smPercent));
        uses.push_back({*timeNs, number, reader.integerOr(t.pid, 0), std::string(reader.text(t.name)),
                        reader.isNull(t.bytes) ? -1 : reader.bytes(t.bytes), percent >= 0 ? percent : -1.0});
    }
    std::ranges::stable_sort(uses, {}, &GpuProcessUse::timeNs);
}

void readCounters(LoadContext& context, FileDirectory& directory) {
    Counters counters = readDefinitions(context, directory);
    readSamples(context, counters);
    Metrics metrics = readMetricNames(context, directory);
    readMetricSamples(context, metrics);
    // In the order of the file's numbers, not of a hash.
    std::map<int64_t, ReadCounter*> inOrder;
    for (auto& [id, counter] : counters) inOrder.emplace(id, &counter);
    const auto addCounter = [&context](ReadCounter& counter) {
        context.builder().counter(std::move(counter.series), std::move(counter.samples));
        counter.samples = {};
    };
    for (auto& [id, counter] : inOrder) addCounter(*counter);
    for (auto& [id, counter] : metrics) addCounter(counter);
}

}  // namespace lanescope
