// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "model/format/tables/Hardware.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/buildLinkCounters.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/CounterSample.h"

namespace lanescope {

namespace {

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

using CountersReader = TableReader<tables::Counters>;
constexpr const auto& counterColumns = tables::counters;

int32_t numberIn(CountersReader& reader, tables::ColumnOf<tables::Counters> column) {
    const int64_t number = reader.integerOr(column, -1);
    return number >= 0 && number < maxNumber ? static_cast<int32_t>(number) : -1;
}

/// Finds the subject of a row. Returns false if the file has more GPUs or processes than the maximum.
bool findSubject(CountersReader& reader, Identities& identities, CounterSeries& series) {
    if (const std::optional<int64_t> gpu = reader.integer(counterColumns.gpuId)) {
        series.gpu = identities.gpuNumbered(*gpu);
        if (series.gpu == noIndex) return false;
    }
    if (const std::optional<int64_t> pid = reader.integer(counterColumns.globalPid)) {
        series.process = identities.process(*pid);
        if (series.process == noIndex) return false;
    }
    return true;
}

Counters readDefinitions(LoadContext& context, FileDirectory& directory) {
    Counters counters;
    CountersReader reader(context, counterColumns,
                          {counterColumns.counterId, counterColumns.source, counterColumns.name, counterColumns.title,
                           counterColumns.unit, counterColumns.meaning, counterColumns.gpuId, counterColumns.globalPid,
                           counterColumns.link, counterColumns.core, counterColumns.device, counterColumns.wrapBits,
                           counterColumns.intervalNs},
                          "counters");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(counterColumns.counterId);
        const int64_t meaning = reader.integerOr(counterColumns.meaning, 0);
        ReadCounter counter(context.builder().memory());
        if (!id || meaning < 0 || meaning > static_cast<int64_t>(CounterMeaning::Amount) ||
            counters.size() >= context.builder().remainingCounters() ||
            !findSubject(reader, directory.identities, counter.series)) {
            reader.skipRow();
            continue;
        }
        counter.series.key = reader.text(counterColumns.name);
        counter.series.source = reader.text(counterColumns.source);
        counter.series.name = reader.text(counterColumns.title);
        if (counter.series.name.empty()) counter.series.name = counter.series.key;
        counter.series.link = numberIn(reader, counterColumns.link);
        counter.series.core = numberIn(reader, counterColumns.core);
        counter.series.device = reader.text(counterColumns.device);
        counter.series.intervalNs =
            std::clamp<int64_t>(reader.integerOr(counterColumns.intervalNs, 0), 0, maxIntervalNs);
        counter.samples.unit = unitFrom(reader.text(counterColumns.unit));
        counter.samples.meaning = static_cast<CounterMeaning>(meaning);
        counter.samples.intervalNs = counter.series.intervalNs;
        counter.samples.wrapBits = numberIn(reader, counterColumns.wrapBits);
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
        if (found == counters.end()) {
            reader.skipRow();
            continue;
        }
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
    const auto contains = [name](std::string_view word) { return name.find(word) != std::string_view::npos; };
    CounterSamples& samples = counter.samples;
    samples.meaning = CounterMeaning::Average;
    if (contains("%")) {
        samples.unit = CounterUnit::Percent;
    } else if (contains("[B]")) {
        samples.unit = CounterUnit::Bytes;
        samples.meaning = CounterMeaning::Amount;
    } else if (contains("B/s")) {
        samples.unit = CounterUnit::BytesPerSecond;
    } else if (contains("[MHz]") || contains("[Hz]")) {
        samples.unit = CounterUnit::Hertz;
        if (contains("[MHz]")) counter.factor = 1e6L;
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
        if (!type || !metric || metrics.size() >= context.builder().remainingCounters()) {
            reader.skipRow();
            continue;
        }
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
        const std::optional<int64_t> timeNs = reader.time(t.timestamp);
        if (!timeNs) continue;
        last->samples.timesNs.push_back(*timeNs);
        last->samples.values.push_back(reader.number(t.value) * last->factor);
    }
    reader.countAs("GPU metric samples");
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
    const auto addCounter = [&context](ReadCounter& counter) {
        context.builder().counter(std::move(counter.series), std::move(counter.samples));
        counter.samples = {};
    };
    for (auto& [id, counter] : inOrder) addCounter(*counter);
    for (auto& [id, counter] : metrics) addCounter(counter);
}

}  // namespace lanescope
