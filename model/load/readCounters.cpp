#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "model/values/formatValue.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"
#include "model/trace/buildLinkCounters.h"
#include "model/trace/counterValues.h"

namespace lanescope {

namespace {

constexpr size_t maximumCounters = 1 << 16;
constexpr int64_t maximumNumber = 1 << 16;  ///< Of a link or a core.

/// A counter of the file while its samples are read.
struct ReadCounter {
    CounterSeries series;
    CounterSamples samples;
    long double factor = 1;  ///< From the file's unit to ours.
};
using Counters = std::unordered_map<int64_t, ReadCounter>;

CounterUnit unitFrom(std::string_view text) {
    if (text == "B") return CounterUnit::Bytes;
    if (text == "B/s") return CounterUnit::BytesPerSecond;
    if (text == "%") return CounterUnit::Percent;
    if (text == "W") return CounterUnit::Watts;
    if (text == "C") return CounterUnit::Celsius;
    if (text == "Hz") return CounterUnit::Hertz;
    if (text == "J") return CounterUnit::Joules;
    if (text == "flags") return CounterUnit::Flags;
    return CounterUnit::Count;
}

int32_t numberIn(RowReader& reader, int column) {
    const int64_t number = reader.integerOr(column, -1);
    return number >= 0 && number < maximumNumber ? static_cast<int32_t>(number) : -1;
}

enum CounterColumn {
    counterId,
    counterSource,
    counterName,
    counterTitle,
    counterUnit,
    counterMeaning,
    counterGpu,
    counterPid,
    counterLink,
    counterCore,
    counterDevice,
    counterWrapBits,
    counterInterval,
};

/// Whose counter the row is of; false if the file names more GPUs or processes than there can be.
bool findSubject(RowReader& reader, Identities& identities, CounterSeries& series) {
    if (const std::optional<int64_t> gpu = reader.integer(counterGpu)) {
        series.gpu = identities.gpuNumbered(*gpu);
        if (series.gpu == noIndex) return false;
    }
    if (const std::optional<int64_t> pid = reader.integer(counterPid)) {
        series.process = identities.process(*pid);
        if (series.process == noIndex) return false;
    }
    return true;
}

Counters readDefinitions(LoadContext& context, FileDirectory& directory) {
    Counters counters;
    TableReader reader(context, "LANESCOPE_COUNTERS",
                       {"counterId", "source", "name", "title", "unit", "meaning", "gpuId",
                        "globalPid", "link", "core", "device", "wrapBits", "intervalNs"},
                       "counters");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(counterId);
        const int64_t meaning = reader.integerOr(counterMeaning, 0);
        ReadCounter counter;
        if (!id || meaning < 0 || meaning > static_cast<int64_t>(CounterMeaning::Amount) ||
            counters.size() >= maximumCounters ||
            !findSubject(reader, directory.identities, counter.series)) {
            reader.skipRow();
            continue;
        }
        counter.series.key = reader.text(counterName);
        counter.series.source = reader.text(counterSource);
        counter.series.name = reader.text(counterTitle);
        if (counter.series.name.empty()) counter.series.name = counter.series.key;
        counter.series.link = numberIn(reader, counterLink);
        counter.series.core = numberIn(reader, counterCore);
        counter.series.device = reader.text(counterDevice);
        counter.series.intervalNs = std::max<int64_t>(0, reader.integerOr(counterInterval, 0));
        counter.samples.unit = unitFrom(reader.text(counterUnit));
        counter.samples.meaning = static_cast<CounterMeaning>(meaning);
        counter.samples.intervalNs = counter.series.intervalNs;
        counter.samples.wrapBits = numberIn(reader, counterWrapBits);
        counters.try_emplace(*id, std::move(counter));
    }
    return counters;
}

void readSamples(LoadContext& context, Counters& counters) {
    TableReader reader(context, "LANESCOPE_COUNTER_SAMPLES", {"counterId", "timestamp", "value"},
                       "counter samples");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(0);
        const auto found = id ? counters.find(*id) : counters.end();
        if (found == counters.end()) {
            reader.skipRow();
            continue;
        }
        const std::optional<int64_t> timeNs = reader.time(1);
        if (!timeNs) continue;
        found->second.samples.timesNs.push_back(*timeNs);
        found->second.samples.values.push_back(reader.number(2));
    }
    if (reader.hasTable())
        context.trace().counts.push_back(
            {"counter samples", reader.rowCount(), reader.untimedCount()});
}

/// Metrics that CUPTI or Nsight Systems sampled on a GPU, by type and metric.
using MetricId = std::pair<int64_t, int64_t>;
using Metrics = std::map<MetricId, ReadCounter>;

/// What a metric's name says of its values: "SMs Active [Throughput %]", "PCIe Read Bytes [B]",
/// "GPC Clock Frequency [MHz]". Bytes of NVLinks get the key of what other samplers tell of them.
void describeMetric(ReadCounter& counter) {
    const std::string_view name = counter.series.key;
    const auto says = [name](std::string_view word) {
        return name.find(word) != std::string_view::npos;
    };
    CounterSamples& samples = counter.samples;
    samples.meaning = CounterMeaning::Average;
    if (says("%")) {
        samples.unit = CounterUnit::Percent;
    } else if (says("[B]")) {
        samples.unit = CounterUnit::Bytes;
        samples.meaning = CounterMeaning::Amount;
    } else if (says("B/s")) {
        samples.unit = CounterUnit::BytesPerSecond;
    } else if (says("[MHz]") || says("[Hz]")) {
        samples.unit = CounterUnit::Hertz;
        if (says("[MHz]")) counter.factor = 1e6L;
    }
    // The unit stands beside every value.
    const size_t unit = name.rfind(" [");
    if (unit != std::string_view::npos && unit > 0 && name.ends_with(']'))
        counter.series.name = name.substr(0, unit);
    const bool isSent = name == "NVLink TX User Data Bytes [B]";
    if (!isSent && name != "NVLink RX User Data Bytes [B]") return;
    counter.series.name = isSent ? "NVLink transmitted" : "NVLink received";
    counter.series.key = isSent ? nvlinkSentKey : nvlinkReceivedKey;
}

Metrics readMetricNames(LoadContext& context, FileDirectory& directory) {
    constexpr int64_t gpuMask = 0xff;  // the low byte of a type is the number of its GPU
    Metrics metrics;
    TableReader reader(context, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"},
                       "GPU metrics");
    while (reader.next()) {
        const std::optional<int64_t> type = reader.integer(0);
        const std::optional<int64_t> metric = reader.integer(1);
        if (!type || !metric || metrics.size() >= maximumCounters) {
            reader.skipRow();
            continue;
        }
        ReadCounter counter;
        counter.series.gpu = directory.identities.gpuNumbered(*type & gpuMask);
        counter.series.source = "pm";
        const std::optional<StringIndex> name = reader.string(2, directory.strings);
        counter.series.name = name ? directory.strings.text(*name) : "GPU metric";
        counter.series.key = counter.series.name;
        describeMetric(counter);
        if (counter.series.gpu != noIndex)
            metrics.try_emplace({*type, *metric}, std::move(counter));
    }
    return metrics;
}

void readMetricSamples(LoadContext& context, Metrics& metrics) {
    TableReader reader(context, "GPU_METRICS", {"timestamp", "typeId", "metricId", "value"},
                       "GPU metrics");
    ReadCounter* last = nullptr;  // metrics often come in turns, but some files have them in runs
    MetricId lastId{};
    while (reader.next()) {
        const std::optional<int64_t> type = reader.integer(1);
        const std::optional<int64_t> metric = reader.integer(2);
        if (!type || !metric) {
            reader.skipRow();
            continue;
        }
        if (const MetricId id{*type, *metric}; last == nullptr || id != lastId) {
            const auto found = metrics.find(id);
            last = found == metrics.end() ? nullptr : &found->second;
            lastId = id;
        }
        if (last == nullptr) {
            reader.skipRow();
            continue;
        }
        const std::optional<int64_t> timeNs = reader.time(0);
        if (!timeNs) continue;
        last->samples.timesNs.push_back(*timeNs);
        last->samples.values.push_back(reader.number(3) * last->factor);
    }
    if (reader.hasTable())
        context.trace().counts.push_back(
            {"GPU metric samples", reader.rowCount(), reader.untimedCount()});
}

/// What became of the cumulative counters of a file.
struct Oddities {
    int64_t resets = 0;
    int64_t wraps = 0;
};

void addSeries(Trace& trace, ReadCounter& counter, Oddities& odd) {
    if (counter.samples.timesNs.empty()) return;
    CounterValues values = counterValues(std::move(counter.samples));
    counter.samples = {};
    odd.resets += values.resetCount;
    odd.wraps += values.wrapCount;
    counter.series.unit = values.unit;
    counter.series.set(std::move(values.timesNs), std::move(values.values), values.endNs);
    if (!counter.series.isEmpty()) trace.counters.push_back(std::move(counter.series));
}

void noteOddities(LoadContext& context, const Oddities& odd) {
    if (odd.resets > 0)
        context.note({Severity::Warning,
                      HealthCode::CountersReset,
                      fmt::format("Sampled counters went backwards {} time{}, as after a reset of "
                                  "the GPU; what they counted in those intervals is unknown.",
                                  formatCount(odd.resets), odd.resets == 1 ? "" : "s"),
                      {},
                      {},
                      odd.resets});
    if (odd.wraps > 0)
        context.note({Severity::Info,
                      HealthCode::CountersWrapped,
                      fmt::format("Sampled counters reached their end and went on from 0 {} "
                                  "time{}; that is made up for.",
                                  formatCount(odd.wraps), odd.wraps == 1 ? "" : "s"),
                      {},
                      {},
                      odd.wraps});
}

}  // namespace

void readCounters(LoadContext& context, FileDirectory& directory) {
    Counters counters = readDefinitions(context, directory);
    readSamples(context, counters);
    Metrics metrics = readMetricNames(context, directory);
    readMetricSamples(context, metrics);
    // In the order of the file's numbers, not of a hash.
    std::map<int64_t, ReadCounter*> inOrder;
    for (auto& [id, counter] : counters) inOrder.emplace(id, &counter);
    Oddities odd;
    for (auto& [id, counter] : inOrder) addSeries(context.trace(), *counter, odd);
    for (auto& [id, counter] : metrics) addSeries(context.trace(), counter, odd);
    noteOddities(context, odd);
}

}  // namespace lanescope
