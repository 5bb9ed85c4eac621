#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "model/bandwidth/CopyRangeTable.h"
#include "model/bandwidth/LinkUse.h"
#include "model/bandwidth/NvlinkVerdict.h"
#include "model/bandwidth/counterIntegral.h"
#include "model/format/GlobalId.h"
#include "model/summary/reportBuilders.h"
#include "model/trace/buildLinkCounters.h"
#include "model/trace/throttleReasons.h"

namespace lanescope {

namespace {

/// NVML's energy counter was seen to move every 70 to 100 ms; below five steps it says little.
constexpr int64_t shortestForEnergyNs = 500'000'000;

bool isSampledNvlink(const CounterSeries& series) {
    const bool isNvlink = series.key == nvlinkSentKey || series.key == nvlinkReceivedKey;
    return isNvlink && series.gpu != noIndex;
}

/// Sent and received over one link, or over all of a GPU (link -1), by GPU number, with the
/// source: several samplers may tell of one link.
using LinkId = std::tuple<int64_t, std::string, int32_t>;
struct LinkPair {
    const CounterSeries* sent = nullptr;
    const CounterSeries* received = nullptr;
};
std::map<LinkId, LinkPair> nvlinks(const Trace& trace) {
    std::map<LinkId, LinkPair> links;
    for (const CounterSeries& series : trace.counters) {
        if (!isSampledNvlink(series)) continue;
        LinkPair& pair = links[{trace.gpus[series.gpu].id, series.source, series.link}];
        (series.key == nvlinkSentKey ? pair.sent : pair.received) = &series;
    }
    return links;
}

/// Whole bytes; empty where nothing is known.
Cell bytesOf(const CounterIntegral& integral) {
    if (!integral.hasValue()) return {};
    return static_cast<int64_t>(std::llround(integral.amount));
}

CounterIntegral integralOrNothing(const CounterSeries* series, TimeRange range) {
    return series ? integralBetween(*series, range, {}, {}) : CounterIntegral{};
}

Cell rateOf(const CounterIntegral& integral) {
    return integral.hasValue() ? Cell(integral.mean() / 1e9) : Cell();
}

std::string linkName(int32_t link) {
    return link < 0 ? "all" : fmt::format("{}", link);
}

/// The time in which any of the counters was sampled, which may begin before the first event.
TimeRange sampledRange(const Trace& trace, std::optional<TimeRange> range) {
    if (range) return *range;
    TimeRange whole = trace.range;
    for (const CounterSeries& series : trace.counters)
        if (!series.isEmpty() && !series.source.empty())
            whole = whole.united({series.timeNs(0), series.endNs()});
    return whole;
}

/// An instance of an NVTX range, and when the counters were read for its ends.
struct Instance {
    std::string name;
    int64_t number = 0;
    int64_t pid = 0;
    TimeRange range;
    TimeRange startReading, endReading;  ///< Empty: the counters were not read on purpose.
};

CounterIntegral integralOf(const CounterSeries* series, const Instance& each) {
    return series ? integralBetween(*series, each.range, each.startReading, each.endReading)
                  : CounterIntegral{};
}

/// Those at whose ends counters were read, if there are any of that name; else those on the
/// timeline.
std::vector<Instance> instancesOf(const ReportQuery& query) {
    std::vector<Instance> instances;
    for (const SampledRange& each : query.trace.interconnect.sampledRanges) {
        if (!query.rangeName.empty() && query.rangeName != each.name) continue;
        instances.push_back({each.name, each.occurrence,
                             each.globalPid == 0 ? 0 : int64_t{processIdOf(each.globalPid)},
                             each.range, each.startReading, each.endReading});
    }
    if (instances.empty())
        for (RangeInstance& each : rangeInstances(query.trace, query.rangeName))
            instances.push_back({std::move(each.name),
                                 each.number,
                                 int64_t{query.trace.processes[each.process].pid},
                                 each.range,
                                 {},
                                 {}});
    if (query.range)
        std::erase_if(instances,
                      [&](const Instance& each) { return !each.range.overlaps(*query.range); });
    return instances;
}

std::vector<ReportColumn> instanceColumns() {
    return {{"Range", Unit::Text},
            {"Instance", Unit::Identifier},
            {"PID", Unit::Identifier},
            {"Start", Unit::Timestamp},
            {"Duration", Unit::Nanoseconds}};
}

std::vector<Cell> instanceCells(const Instance& each) {
    return {each.name, each.number, each.pid == 0 ? Cell() : Cell(each.pid), each.range.startNs,
            each.range.durationNs()};
}

/// Of one link in one range: what went over it, by one sampler.
struct LinkFigures {
    CounterIntegral sent, received;

    bool hasValue() const { return sent.hasValue() || received.hasValue(); }
    bool isUnread() const { return sent.isUnread || received.isUnread; }
    bool isExact() const {
        return (!sent.hasValue() || sent.isExact) && (!received.hasValue() || received.isExact);
    }
    bool isComplete() const {
        return (!sent.hasValue() || sent.isComplete()) &&
               (!received.hasValue() || received.isComplete());
    }
};

/// The samplers that tell of each link of each GPU. NVML's counters come first: they count bytes,
/// where others take averages.
using LinkSamplers = std::map<std::pair<int64_t, int32_t>, std::vector<LinkPair>>;
LinkSamplers linkSamplers(const Trace& trace) {
    LinkSamplers samplers;
    for (const auto& [id, pair] : nvlinks(trace)) {
        const auto& [gpu, source, link] = id;
        std::vector<LinkPair>& pairs = samplers[{gpu, link}];
        pairs.insert(source == "nvml" ? pairs.begin() : pairs.end(), pair);
    }
    return samplers;
}

/// By the sampler that knows best.
LinkFigures figuresOf(const std::vector<LinkPair>& samplers, const Instance& instance) {
    LinkFigures best;
    for (const LinkPair& pair : samplers) {
        const LinkFigures figures{integralOf(pair.sent, instance),
                                  integralOf(pair.received, instance)};
        const auto rank = [](const LinkFigures& each) {
            return std::tuple(!each.isUnread(), each.hasValue(), each.isComplete(), each.isExact());
        };
        if (&pair == &samplers.front() || rank(figures) > rank(best)) best = figures;
    }
    return best;
}

/// How a figure of a range came about. Of two figures the one that is not known counts.
Cell basisOf(bool isExact, bool isComplete, bool hasValue, bool isUnread) {
    if (isUnread) return std::string("not read");
    if (!hasValue) return {};
    if (!isComplete) return std::string("in part unknown");
    return std::string(isExact ? "read at both ends" : "between samples");
}

void addBasisNote(ReportTable& table) {
    if (table.rows.empty()) return;
    table.notes.emplace_back(
        "\"read at both ends\": the difference of two readings. \"between samples\": the interval "
        "between two samples is shared out evenly. \"not read\": the counter was read too seldom "
        "to "
        "tell of so short a range. \"in part unknown\": the counter was reset or lost, and only "
        "what is known counts.");
}

}  // namespace

ReportTable nvlinkSummary(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"GPU", Unit::Identifier},
                     {"Link", Unit::Text},
                     {"Sent", Unit::Bytes},
                     {"Received", Unit::Bytes},
                     {"Sent Mean", Unit::GigabytesPerSecond},
                     {"Sent Max", Unit::GigabytesPerSecond},
                     {"Received Mean", Unit::GigabytesPerSecond},
                     {"Received Max", Unit::GigabytesPerSecond},
                     {"Peak", Unit::GigabytesPerSecond},
                     {"Of Peak", Unit::Percent},
                     {"Known", Unit::Percent},
                     {"Source", Unit::Text}};
    const TimeRange range = sampledRange(query.trace, query.range);
    for (const auto& [id, pair] : nvlinks(query.trace)) {
        const auto& [gpu, source, link] = id;
        const CounterIntegral sent = integralOrNothing(pair.sent, range);
        const CounterIntegral received = integralOrNothing(pair.received, range);
        std::optional<CopyPeak> peak = peakOfNvlink(query.trace, gpu);
        const int32_t links = nvlinksOf(query.trace, gpu);
        if (peak && link >= 0) {
            peak->gigabytesPerSecond /= std::max(1, links);
            if (links <= 0) peak.reset();
        }
        const auto known = [&](const CounterIntegral& each) {
            return 100.0 * static_cast<double>(each.knownNs) /
                   static_cast<double>(std::max<int64_t>(1, each.wholeNs));
        };
        const auto most = [](const CounterIntegral& each) {
            return each.hasValue() ? Cell(each.maximum / 1e9) : Cell();
        };
        const double busier = std::max(sent.mean(), received.mean()) / 1e9;
        const bool isKnown = sent.hasValue() || received.hasValue();
        table.rows.push_back(
            {gpu, linkName(link), bytesOf(sent), bytesOf(received), rateOf(sent), most(sent),
             rateOf(received), most(received), peak ? Cell(peak->gigabytesPerSecond) : Cell(),
             peak && isKnown ? Cell(100 * busier / peak->gigabytesPerSecond) : Cell(),
             std::max(known(sent), known(received)), source});
    }
    // A single GPU has nobody to talk to.
    if (!table.rows.empty() || query.trace.gpus.size() > 1)
        table.notes = judgeNvlink(query.trace, query.range).sentences;
    return table;
}

ReportTable nvlinkByRange(const ReportQuery& query) {
    ReportTable table;
    table.columns = instanceColumns();
    for (const ReportColumn& column : std::vector<ReportColumn>{{"GPU", Unit::Identifier},
                                                                {"Link", Unit::Text},
                                                                {"Sent", Unit::Bytes},
                                                                {"Received", Unit::Bytes},
                                                                {"Basis", Unit::Text}})
        table.columns.push_back(column);
    const LinkSamplers links = linkSamplers(query.trace);
    if (links.empty()) return table;
    for (const Instance& instance : instancesOf(query)) {
        for (const auto& [id, samplers] : links) {
            const LinkFigures figures = figuresOf(samplers, instance);
            std::vector<Cell> cells = instanceCells(instance);
            cells.emplace_back(id.first);
            cells.emplace_back(linkName(id.second));
            cells.push_back(bytesOf(figures.sent));
            cells.push_back(bytesOf(figures.received));
            cells.push_back(basisOf(figures.isExact(), figures.isComplete(), figures.hasValue(),
                                    figures.isUnread()));
            table.rows.push_back(std::move(cells));
        }
    }
    addBasisNote(table);
    return table;
}

ReportTable energyByRange(const ReportQuery& query) {
    ReportTable table;
    table.columns = instanceColumns();
    for (const ReportColumn& column : std::vector<ReportColumn>{{"GPU", Unit::Identifier},
                                                                {"Energy (J)", Unit::Count},
                                                                {"Mean Power (W)", Unit::Count},
                                                                {"Basis", Unit::Text}})
        table.columns.push_back(column);
    // The energy counter itself where it tells, else the power that was sampled.
    struct Sources {
        const CounterSeries* energy = nullptr;
        const CounterSeries* power = nullptr;
    };
    std::map<int64_t, Sources> byGpu;
    for (const CounterSeries& series : query.trace.counters) {
        if (series.gpu == noIndex || series.unit != CounterUnit::Watts) continue;
        Sources& sources = byGpu[query.trace.gpus[series.gpu].id];
        (series.key == "energy" ? sources.energy : sources.power) = &series;
    }
    if (byGpu.empty()) return table;
    bool hasCoarse = false;
    for (const Instance& instance : instancesOf(query)) {
        for (const auto& [gpu, sources] : byGpu) {
            CounterIntegral energy = integralOf(sources.energy, instance);
            const bool isByPower = sources.power && (sources.energy == nullptr || energy.isUnread);
            // A gauge holds until the next sample: of equal ones the first is kept.
            if (isByPower) energy = integralOf(*sources.power, instance.range);
            std::vector<Cell> cells = instanceCells(instance);
            cells.emplace_back(gpu);
            // No GPU runs on nothing: the counter did not move while the range ran.
            const bool isStill = energy.hasValue() && energy.amount == 0;
            cells.push_back(energy.hasValue() && !isStill ? Cell(energy.amount) : Cell());
            cells.push_back(energy.hasValue() && !isStill ? Cell(energy.mean()) : Cell());
            const bool isCoarse = !isByPower && energy.hasValue() &&
                                  instance.range.durationNs() < shortestForEnergyNs;
            hasCoarse |= isCoarse;
            cells.push_back(isCoarse ? Cell(std::string("coarse"))
                                     : basisOf(energy.isExact, energy.isComplete(),
                                               energy.hasValue(), energy.isUnread));
            table.rows.push_back(std::move(cells));
        }
    }
    addBasisNote(table);
    if (hasCoarse)
        table.notes.emplace_back(
            "\"coarse\": a GPU's energy counter moves about ten times a second, so a range below "
            "half "
            "a second has a step of it too many or too few. The sum over many is right.");
    return table;
}

ReportTable gpuActivity(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"GPU", Unit::Identifier}, {"Counter", Unit::Text},  {"Mean", Unit::Text},
                     {"Max", Unit::Text},       {"Known", Unit::Percent}, {"Source", Unit::Text}};
    const TimeRange range = sampledRange(query.trace, query.range);
    for (const CounterSeries& series : query.trace.counters) {
        if (series.gpu == noIndex || series.source.empty() || series.link >= 0 ||
            series.unit == CounterUnit::Flags || series.key == "memory.total")
            continue;
        const CounterIntegral all = integralOf(series, range);
        const bool isKnown = all.hasValue();
        table.rows.push_back(
            {query.trace.gpus[series.gpu].id, series.name,
             isKnown ? Cell(formatCounter(all.mean(), series.unit)) : Cell(std::string("unknown")),
             // The steps of an energy counter are coarse: their slope is no power that was drawn.
             !isKnown                 ? Cell(std::string("unknown"))
             : series.key == "energy" ? Cell()
                                      : Cell(formatCounter(all.maximum, series.unit)),
             100.0 * static_cast<double>(all.knownNs) /
                 static_cast<double>(std::max<int64_t>(1, all.wholeNs)),
             series.source});
    }
    for (const CounterSeries& series : query.trace.counters) {
        if (series.gpu == noIndex || series.unit != CounterUnit::Flags) continue;
        int64_t knownNs = 0;
        std::map<std::string, int64_t> heldNs;
        for (uint32_t sample = 0; sample < series.size(); ++sample) {
            const int64_t ns = series.rangeOf(sample).intersected(range).durationNs();
            const double value = series.value(sample);
            if (ns <= 0 || !(value >= 0)) continue;
            knownNs += ns;
            const auto flags = static_cast<uint64_t>(value);
            for (const ThrottleReason& reason : throttleReasons())
                if (reason.isSlowdown && (flags & reason.bit) != 0)
                    heldNs[std::string(reason.name)] += ns;
        }
        for (const auto& [reason, ns] : heldNs)
            table.rows.push_back(
                {query.trace.gpus[series.gpu].id, "throttled: " + reason,
                 fmt::format("{:.1f} % of the time",
                             100.0 * static_cast<double>(ns) / static_cast<double>(knownNs)),
                 Cell(),
                 100.0 * static_cast<double>(knownNs) /
                     static_cast<double>(std::max<int64_t>(1, range.durationNs())),
                 series.source});
    }
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [](const auto& a, const auto& b) { return a[0] < b[0]; });
    return table;
}

}  // namespace lanescope
