// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "model/analysis/CopyRangeTable.h"
#include "model/analysis/stepRanges.h"
#include "model/format/GlobalId.h"
#include "model/numbers/Statistics.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// NVML's energy counter changes every 70 to 100 ms; below five changes it is not precise.
constexpr int64_t minEnergyRangeNs = 500'000'000;

/// An instance of an NVTX range, and the times of the counter readings for its ends.
struct Instance {
    std::string name;
    int64_t number = 0;
    uint32_t process = noIndex;
    int64_t pid = 0;
    TimeRange range;
    TimeRange startReading, endReading;  ///< Empty if the counters were not read on purpose.
};

uint32_t processWith(const Trace& trace, int64_t globalPid) {
    for (uint32_t process = 0; process < trace.processes.size(); ++process)
        if (trace.processes[process].globalPid == globalPid) return process;
    return noIndex;
}

CounterIntegral integralOf(const CounterSeries* series, const Instance& each) {
    if (!series) return {};
    // Only NVML was read for the ends of the range; others were sampled as usual.
    const bool isRead = series->source == "nvml";
    return integralBetween(*series, each.range, isRead ? each.startReading : TimeRange{},
                           isRead ? each.endReading : TimeRange{});
}

/// Returns the ranges at whose ends counters were read, if there are any of that name; else those on the timeline.
std::vector<Instance> instancesOf(const ReportQuery& query) {
    std::vector<Instance> instances;
    for (const SampledRange& each : query.trace.interconnect.sampledRanges) {
        if (!query.rangeName.empty() && query.rangeName != each.name && query.rangeName != rangePattern(each.name))
            continue;
        instances.push_back({each.name, each.occurrence, processWith(query.trace, each.globalPid),
                             each.globalPid == 0 ? 0 : int64_t{processIdOf(each.globalPid)}, each.range,
                             each.startReading, each.endReading});
    }
    if (instances.empty())
        for (RangeInstance& each : rangeInstances(query.trace, query.rangeName))
            instances.push_back({std::move(each.name),
                                 each.number,
                                 each.process,
                                 int64_t{query.trace.processes[each.process].pid},
                                 each.range,
                                 {},
                                 {}});
    if (query.range) std::erase_if(instances, [&](const Instance& each) { return !each.range.overlaps(*query.range); });
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

/// Traffic of one link in one range, by one sampler.
struct LinkFigures {
    CounterIntegral sent, received;

    bool hasValue() const { return sent.hasValue() || received.hasValue(); }
    bool isUnread() const { return sent.isUnread || received.isUnread; }
    bool isExact() const { return (!sent.hasValue() || sent.isExact) && (!received.hasValue() || received.isExact); }
    bool isComplete() const {
        return (!sent.hasValue() || sent.isComplete()) && (!received.hasValue() || received.isComplete());
    }
};

/// Samplers of each link of each GPU: hardware samplers before NVML's counters, which count bytes, before averages.
using LinkSamplers = std::map<std::pair<int64_t, int32_t>, std::vector<LinkPair>>;
LinkSamplers linkSamplers(const Trace& trace) {
    LinkSamplers samplers;
    for (const auto& [id, pair] : nvlinks(trace)) {
        const auto& [gpu, source, link] = id;
        std::vector<LinkPair>& pairs = samplers[{gpu, link}];
        // In the order of their names "nvml" comes before "pm" and after "gpm".
        pairs.insert(source == "gpm" ? pairs.end() : pairs.begin(), pair);
    }
    return samplers;
}

/// Returns the figures of the best sampler.
LinkFigures figuresOf(const std::vector<LinkPair>& samplers, const Instance& instance) {
    LinkFigures best;
    for (const LinkPair& pair : samplers) {
        const LinkFigures figures{integralOf(pair.sent, instance), integralOf(pair.received, instance)};
        const auto rank = [](const LinkFigures& each) {
            return std::tuple(!each.isUnread(), each.hasValue(), each.isComplete(), each.isExact());
        };
        if (&pair == &samplers.front() || rank(figures) > rank(best)) best = figures;
    }
    return best;
}

/// Returns the basis of a range's figure. Of two figures the unknown one decides.
Cell basisOf(bool isExact, bool isComplete, bool hasValue, bool isUnread) {
    if (isUnread) return std::string("not read");
    if (!hasValue) return {};
    if (!isComplete) return std::string("in part unknown");
    return std::string(isExact ? "read at both ends" : "between samples");
}

void addBasisNote(ReportTable& table) {
    if (table.rows.empty()) return;
    table.notes.emplace_back(
        "\"read at both ends\": difference of two readings. \"between samples\": the interval between two samples is "
        "distributed evenly. \"not read\": the counter was sampled too rarely for so short a range. \"in part "
        "unknown\": the counter was reset or lost, and only the known part counts.");
}

/// The GPUs of an instance: those that its process uses, or all if unknown.
class OwnGpus {
  public:
    explicit OwnGpus(const Trace& trace) : trace_(trace), gpus_(trace) {}

    bool include(int64_t gpu, const Instance& instance) {
        if (instance.process == noIndex) return true;
        const auto [found, isNew] = byProcess_.try_emplace(instance.process);
        if (isNew)
            for (const uint32_t each : gpus_.of(instance.process)) found->second.insert(trace_.gpus[each].id);
        return found->second.empty() || found->second.contains(gpu);
    }

  private:
    const Trace& trace_;
    const GpusOfProcesses gpus_;
    std::map<uint32_t, std::set<int64_t>> byProcess_;
};

/// Sums over the instances of a range, for notes: a sentence per process and GPU. Unknown instances are counted so.
class RangeTotals {
  public:
    using Format = std::string (*)(double);
    RangeTotals(std::vector<std::string> labels, Format format) : labels_(std::move(labels)), format_(format) {}

    void add(const Instance& instance, int64_t gpu, const std::vector<std::optional<double>>& amounts) {
        Group& group = groups_[{rangePattern(instance.name), instance.pid, gpu}];
        ++group.instanceCount;
        group.amounts.resize(labels_.size());
        bool isKnown = false;
        for (size_t index = 0; index < amounts.size(); ++index) {
            if (amounts[index]) group.amounts[index].push_back(*amounts[index]);
            isKnown |= amounts[index].has_value();
        }
        group.unknownCount += isKnown ? 0 : 1;
    }

    void addNotes(ReportTable& table) {
        for (auto& [key, group] : groups_) {
            const auto& [name, pid, gpu] = key;
            if (group.instanceCount < 2 || group.unknownCount == group.instanceCount) continue;
            std::string note = fmt::format("\"{}\"", name);
            if (pid != 0) note += fmt::format(" of PID {}", pid);
            note += fmt::format(" on GPU {}, {} instances", gpu, group.instanceCount);
            if (group.unknownCount > 0) note += fmt::format(" ({} unknown)", group.unknownCount);
            std::string separator = ": ";
            for (size_t index = 0; index < labels_.size(); ++index) {
                std::vector<double>& amounts = group.amounts[index];
                if (amounts.empty()) continue;
                const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
                note += fmt::format("{}{}median {}, sum {}", separator, labels_[index], format_(medianOf(amounts)),
                                    format_(sum));
                separator = "; ";
            }
            table.notes.push_back(note + ".");
        }
    }

  private:
    struct Group {
        int64_t instanceCount = 0;
        int64_t unknownCount = 0;
        std::vector<std::vector<double>> amounts;  ///< As `labels_`.
    };
    std::vector<std::string> labels_;
    Format format_;
    std::map<std::tuple<std::string, int64_t, int64_t>, Group> groups_;
};

std::optional<double> amountOf(const CounterIntegral& integral) {
    return integral.hasValue() ? std::optional(integral.amount) : std::nullopt;
}

/// Returns the sum over the links of each GPU, with `isByLink` also each link.
ReportTable nvlinkOfInstances(const ReportQuery& query, bool isByLink) {
    ReportTable table{.columns = instanceColumns()};
    table.columns.push_back({"GPU", Unit::Identifier});
    if (isByLink) table.columns.push_back({"Link", Unit::Text});
    table.columns.insert(table.columns.end(),
                         {{"Sent", Unit::Bytes}, {"Received", Unit::Bytes}, {"Basis", Unit::Text}});
    const LinkSamplers links = linkSamplers(query.trace);
    if (links.empty()) return table;
    OwnGpus own(query.trace);
    RangeTotals totals({"sent ", "received "},
                       [](double bytes) { return formatBytes(static_cast<int64_t>(std::llround(bytes))); });
    for (const Instance& instance : instancesOf(query)) {
        for (const auto& [id, samplers] : links) {
            const auto& [gpu, link] = id;
            if ((link >= 0 && !isByLink) || !own.include(gpu, instance)) continue;
            LinkFigures figures = figuresOf(samplers, instance);
            // Both were read at once: in a range too short for one, the other is also unknown.
            if (figures.isUnread()) figures.sent = figures.received = {.isUnread = true};
            std::vector<Cell> cells = instanceCells(instance);
            cells.emplace_back(gpu);
            if (isByLink) cells.emplace_back(linkName(link));
            cells.push_back(bytesOf(figures.sent));
            cells.push_back(bytesOf(figures.received));
            cells.push_back(basisOf(figures.isExact(), figures.isComplete(), figures.hasValue(), figures.isUnread()));
            table.rows.push_back(std::move(cells));
            if (link < 0) totals.add(instance, gpu, {amountOf(figures.sent), amountOf(figures.received)});
        }
    }
    totals.addNotes(table);
    addBasisNote(table);
    return table;
}

ReportTable energyByRange(const ReportQuery& query) {
    ReportTable table{.columns = instanceColumns()};
    table.columns.insert(table.columns.end(), {{"GPU", Unit::Identifier},
                                               {"Energy (J)", Unit::Count},
                                               {"Mean Power (W)", Unit::Count},
                                               {"Basis", Unit::Text}});
    // The energy counter itself if known, else the sampled power.
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
    OwnGpus own(query.trace);
    RangeTotals totals({""}, [](double joules) { return fmt::format("{:.1f} J", joules); });
    bool hasCoarse = false;
    for (const Instance& instance : instancesOf(query)) {
        for (const auto& [gpu, sources] : byGpu) {
            if (!own.include(gpu, instance)) continue;
            CounterIntegral energy = integralOf(sources.energy, instance);
            const bool isByPower = sources.power && (sources.energy == nullptr || energy.isUnread);
            // A gauge holds until the next sample: of equal ones the first is kept.
            if (isByPower) energy = integralOf(*sources.power, instance.range);
            std::vector<Cell> cells = instanceCells(instance);
            cells.emplace_back(gpu);
            // No GPU uses zero energy: the counter did not change while the range ran.
            const bool isStill = energy.hasValue() && energy.amount == 0;
            const bool isCoarse = !isByPower && energy.hasValue() && instance.range.durationNs() < minEnergyRangeNs;
            const bool isShown = energy.hasValue() && !isStill;
            cells.push_back(isShown ? Cell(energy.amount) : Cell());
            // A change of the counter over such a short time is no possible power.
            cells.push_back(isShown && !isCoarse ? Cell(energy.mean()) : Cell());
            hasCoarse |= isCoarse;
            cells.push_back(isCoarse
                                ? Cell(std::string("coarse"))
                                : basisOf(energy.isExact, energy.isComplete(), energy.hasValue(), energy.isUnread));
            table.rows.push_back(std::move(cells));
            // Energy that is missing here was counted elsewhere, and is in the sum there.
            totals.add(instance, gpu, {amountOf(energy)});
        }
    }
    totals.addNotes(table);
    addBasisNote(table);
    if (hasCoarse)
        table.notes.emplace_back(
            "\"coarse\": the energy counter of a GPU changes about ten times per second, so a range below half a "
            "second is off by up to one increment, and has no mean power. The sum over many ranges is right.");
    return table;
}

}  // namespace

const Report nvlinkByRangeReport{
    .info = {.name = "nvlink_by_range",
             .title = "NVLink Traffic by NVTX Range",
             .description = "NVLink bytes in each instance of an NVTX range, for the GPUs of its process",
             .isByRange = true,
             .isSampled = true},
    .build = [](const ReportQuery& query) { return nvlinkOfInstances(query, false); }};

const Report nvlinkByRangeAndLinkReport{
    .info = {.name = "nvlink_by_range:link",
             .title = "NVLink Traffic by NVTX Range and Link",
             .description = "nvlink_by_range of each link",
             .isByRange = true,
             .isSampled = true},
    .build = [](const ReportQuery& query) { return nvlinkOfInstances(query, true); }};

const Report energyByRangeReport{
    .info = {.name = "energy_by_range",
             .title = "Energy by NVTX Range",
             .description = "Energy in each instance of an NVTX range, for the GPUs of its process",
             .isByRange = true,
             .isSampled = true},
    .build = energyByRange};

}  // namespace lanescope
