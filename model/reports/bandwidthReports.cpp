// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/analysis/CopyRangeTable.h"
#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/CopyIndex.h"
#include "model/bandwidth/LinkUse.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

Cell cellOf(const auto& optional) { return optional ? Cell(*optional) : Cell(); }

/// Returns "0" or, from one GPU to another, "0 \u2192 1".
Cell gpusOf(const Trace& trace, const CopyGroup& group) {
    if (group.gpu == noIndex) return {};
    const int64_t gpu = trace.gpus[group.gpu].id;
    if (group.peer == group.gpu || group.peer == noIndex) return fmt::format("{}", gpu);
    return fmt::format("{} \u2192 {}", gpu, trace.gpus[group.peer].id);
}

Cell memoryName(MemoryKind kind) { return std::string(name(kind)); }

/// Columns of a table besides the figures.
struct Layout {
    bool hasGpus = false;
    bool hasSize = false;
};

/// Adds the columns of copies.
void addColumns(const Layout& layout, std::vector<ReportColumn>& columns) {
    columns.push_back({"Kind", Unit::Text});
    if (layout.hasGpus) columns.push_back({"GPU", Unit::Text});
    columns.push_back({"Source", Unit::Text});
    columns.push_back({"Destination", Unit::Text});
    if (layout.hasSize) columns.push_back({"Size", Unit::Text});
    columns.insert(columns.end(), {{"Count", Unit::Count},
                                   {"Bytes", Unit::Bytes},
                                   {"Busy Time", Unit::Nanoseconds},
                                   {"Total Time", Unit::Nanoseconds},
                                   {"Min", Unit::GigabytesPerSecond},
                                   {"P10", Unit::GigabytesPerSecond},
                                   {"Med", Unit::GigabytesPerSecond},
                                   {"P90", Unit::GigabytesPerSecond},
                                   {"Max", Unit::GigabytesPerSecond},
                                   {"Mean", Unit::GigabytesPerSecond},
                                   {"Peak", Unit::GigabytesPerSecond},
                                   {"Of Peak", Unit::Percent},
                                   {"Peak From", Unit::Text},
                                   {"Overlapped by Kernels", Unit::Percent}});
}

void addCells(const Trace& trace, const CopyStatistics& row, const Layout& layout, std::vector<Cell>& cells) {
    const CopyGroup& group = row.group;
    cells.emplace_back(std::string(group.kindName()));
    if (layout.hasGpus) cells.push_back(gpusOf(trace, group));
    cells.push_back(group.isMemset ? Cell() : memoryName(group.source));
    cells.push_back(memoryName(group.destination));
    if (layout.hasSize) cells.emplace_back(sizeBucketName(group.sizeBucket));
    const auto rate = [&](double CopyRates::*which) { return row.rates ? Cell((*row.rates).*which) : Cell(); };
    const std::optional<int64_t> bytes = row.knownBytes();
    cells.insert(cells.end(),
                 {row.count, cellOf(bytes), row.busyNs, row.summedNs, rate(&CopyRates::minimum), rate(&CopyRates::p10),
                  rate(&CopyRates::median), rate(&CopyRates::p90), rate(&CopyRates::maximum), cellOf(row.meanGBps()),
                  row.peak ? Cell(row.peak->gigabytesPerSecond) : Cell(), cellOf(row.peakPercent()),
                  row.peak ? Cell(std::string(name(row.peak->origin))) : Cell(), cellOf(row.overlappedPercent())});
}

/// Returns the trace of a query, which outlives the report.
TracePtr borrowed(const ReportQuery& query) { return {TracePtr(), &query.trace}; }

void addNotes(ReportTable& table, const CopyIndex& index, const ReportQuery& query,
              const std::vector<CopyStatistics>& rows) {
    int64_t cut = 0, unrated = 0;
    for (const CopyStatistics& row : rows) {
        cut += row.clippedCount;
        unrated += row.unratedCount;
    }
    for (const BandwidthAdvice& advice : index.advice(query.range)) table.notes.push_back(advice.sentence);
    if (cut > 0)
        table.notes.push_back(
            fmt::format("{} {} clipped at the edges of the range; only the part inside counts, in proportion to time.",
                        formatCount(cut), cut == 1 ? "copy is" : "copies are"));
    for (const CopyStatistics& row : rows)
        if (const std::string_view why = row.whyBeyondPeak(); !why.empty())
            table.notes.push_back(fmt::format("{} {} to {}: above 100 % of the peak: {}.", row.group.kindName(),
                                              name(row.group.source), name(row.group.destination), why));
    if (!rows.empty()) table.notes.emplace_back("\"Busy Time\" counts simultaneous copies once, \"Total Time\" each.");
    if (unrated > 0)
        table.notes.push_back(fmt::format(
            "{} without bytes or without a duration {} counted but {} no rate; sizes are of the other copies.",
            formatCount(unrated), unrated == 1 ? "is" : "are", unrated == 1 ? "has" : "have"));
}

bool tellGpus(const std::vector<CopyStatistics>& rows) {
    return std::ranges::any_of(rows, [](const CopyStatistics& row) { return row.group.gpu != noIndex; });
}

ReportTable bandwidthBy(const ReportQuery& query, CopyGrouping grouping) {
    const CopyIndex index(borrowed(query));
    const std::vector<CopyStatistics> rows = index.statistics({grouping, query.range, noIndex});
    Layout layout{.hasGpus = tellGpus(rows), .hasSize = grouping == CopyGrouping::Size};
    ReportTable table;
    addColumns(layout, table.columns);
    for (const CopyStatistics& row : rows) addCells(query.trace, row, layout, table.rows.emplace_back());
    addNotes(table, index, query, rows);
    return table;
}

constexpr const char* processNote =
    "Copies count where they run on the GPU, for the process of the range; copies across its start or end count "
    "partly.";

Layout layoutOf(const std::vector<CopiesOfRange>& ranges) {
    return {std::ranges::any_of(ranges, [](const CopiesOfRange& range) { return tellGpus(range.rows); }), false};
}

/// Adds the basis of the rows, or why there are none although ranges run in that time.
void addNotes(const std::vector<CopiesOfRange>& ranges, std::string_view note, ReportTable& table) {
    if (ranges.empty()) return;
    if (table.rows.empty()) {
        table.notes.push_back(fmt::format("In this time {} of the ranges {} on the GPU and {} nothing.", ranges.size(),
                                          ranges.size() == 1 ? "works" : "work",
                                          ranges.size() == 1 ? "copies" : "copy"));
        return;
    }
    if (!note.empty()) table.notes.emplace_back(note);
    table.notes.emplace_back(processNote);
}

ReportTable memcpyBandwidthByRange(const ReportQuery& query) {
    const CopyIndex index(borrowed(query));
    const std::vector<CopiesOfRange> ranges =
        copiesByRange(index, rangeInstances(query.trace, query.rangeName), CopyGrouping::Memory, query.range);
    const Layout layout = layoutOf(ranges);
    ReportTable table{.columns = {{"Range", Unit::Text},
                                  {"Instances", Unit::Count},
                                  {"Median Count", Unit::Count},
                                  {"Median Bytes", Unit::Bytes},
                                  {"Median Busy", Unit::Nanoseconds}}};
    addColumns(layout, table.columns);
    for (const CopiesOfAllInstances& row : copiesOfAllInstances(index, ranges, CopyGrouping::Memory, query.range)) {
        table.rows.push_back({row.range, row.instanceCount, row.medianCount, row.medianBytes, row.medianBusyNs});
        addCells(query.trace, row.total, layout, table.rows.back());
    }
    addNotes(
        ranges,
        "Medians are over all instances (0 for instances without such copies); the other columns sum all instances.",
        table);
    return table;
}

ReportTable memcpyBandwidthByInstance(const ReportQuery& query) {
    const CopyIndex index(borrowed(query));
    const std::vector<CopiesOfRange> ranges =
        copiesByRange(index, rangeInstances(query.trace, query.rangeName), CopyGrouping::Memory, query.range);
    const Layout layout = layoutOf(ranges);
    ReportTable table{.columns = {{"Range", Unit::Text},
                                  {"Instance", Unit::Identifier},
                                  {"PID", Unit::Identifier},
                                  {"Start", Unit::Timestamp},
                                  {"Duration", Unit::Nanoseconds}}};
    addColumns(layout, table.columns);
    for (const CopiesOfRange& range : ranges) {
        const RangeInstance& instance = range.instance;
        for (const CopyStatistics& row : range.rows) {
            table.rows.push_back({instance.name, instance.number, int64_t{query.trace.processes[instance.process].pid},
                                  instance.range.startNs, instance.range.durationNs()});
            addCells(query.trace, row, layout, table.rows.back());
        }
    }
    addNotes(ranges, {}, table);
    return table;
}

ReportTable memcpyAdvice(const ReportQuery& query) {
    const CopyIndex index(borrowed(query));
    ReportTable table{.columns = {{"Saves", Unit::Nanoseconds}, {"Advice", Unit::Text}}};
    for (BandwidthAdvice& advice : index.advice(query.range))
        table.rows.push_back({advice.gainNs, std::move(advice.sentence)});
    return table;
}

CounterIntegral integralOrNothing(const CounterSeries* series, TimeRange range) {
    return series ? integralOf(*series, range) : CounterIntegral{};
}

Cell rateOf(const CounterIntegral& integral) { return integral.hasValue() ? Cell(integral.mean() / 1e9) : Cell(); }

ReportTable nvlinkSummary(const ReportQuery& query) {
    ReportTable table{.columns = {{"GPU", Unit::Identifier},
                                  {"Link", Unit::Text},
                                  {"Sent", Unit::Bytes},
                                  {"Received", Unit::Bytes},
                                  {"Sent Mean", Unit::GigabytesPerSecond},
                                  {"Sent Max", Unit::GigabytesPerSecond},
                                  {"Received Mean", Unit::GigabytesPerSecond},
                                  {"Received Max", Unit::GigabytesPerSecond},
                                  {"Peak", Unit::GigabytesPerSecond},
                                  {"Of Peak", Unit::Percent},
                                  {"Time Known", Unit::Percent},
                                  {"Source", Unit::Text}}};
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
            return 100.0 * static_cast<double>(each.knownNs) / static_cast<double>(std::max<int64_t>(1, each.wholeNs));
        };
        const auto most = [](const CounterIntegral& each) {
            return each.hasValue() ? Cell(each.maximum / 1e9) : Cell();
        };
        const double busier = std::max(sent.mean(), received.mean()) / 1e9;
        const bool isKnown = sent.hasValue() || received.hasValue();
        table.rows.push_back({gpu, linkName(link), bytesOf(sent), bytesOf(received), rateOf(sent), most(sent),
                              rateOf(received), most(received), peak ? Cell(peak->gigabytesPerSecond) : Cell(),
                              peak && isKnown ? Cell(100 * busier / peak->gigabytesPerSecond) : Cell(),
                              std::max(known(sent), known(received)), source});
    }
    // A single GPU has no peer.
    if (!table.rows.empty() || query.trace.gpus.size() > 1)
        table.notes = judgeNvlink(query.trace, query.range).sentences;
    if (!table.rows.empty())
        for (std::string& note : spanNotes(query.trace, query.range)) table.notes.push_back(std::move(note));
    return table;
}

}  // namespace

const Report memcpyBandwidthReport{
    .info = {.name = "memcpy_bandwidth",
             .title = "Memcpy Bandwidth",
             .description = "Bandwidth of memcpys by kind and by kinds of memory",
             .isDefault = true,
             .by = "memory"},
    .build = [](const ReportQuery& query) { return bandwidthBy(query, CopyGrouping::Memory); }};

const Report memcpyAdviceReport{
    .info = {.name = "memcpy_advice", .title = "Memcpy Advice", .description = "Advice on memcpys", .isDefault = true},
    .build = memcpyAdvice};

const Report memcpyBandwidthBySizeReport{
    .info = {"memcpy_bandwidth:size", "Memcpy Bandwidth by Size", "memcpy_bandwidth by size of the copies"},
    .build = [](const ReportQuery& query) { return bandwidthBy(query, CopyGrouping::Size); }};

const Report memcpyBandwidthByDeviceReport{
    .info = {"memcpy_bandwidth:device", "Memcpy Bandwidth by GPU", "memcpy_bandwidth by GPU"},
    .build = [](const ReportQuery& query) { return bandwidthBy(query, CopyGrouping::Device); }};

const Report memcpyBandwidthByRangeReport{
    .info = {.name = "memcpy_bandwidth:range",
             .title = "Memcpy Bandwidth by NVTX Range",
             .description = "memcpy_bandwidth of an NVTX range, all its instances together (default: the steps)",
             .isByRange = true},
    .build = memcpyBandwidthByRange};

const Report memcpyBandwidthByInstanceReport{
    .info = {.name = "memcpy_bandwidth:instance",
             .title = "Memcpy Bandwidth by Instance of an NVTX Range",
             .description = "memcpy_bandwidth of each instance of an NVTX range",
             .isByRange = true},
    .build = memcpyBandwidthByInstance};

const Report nvlinkSummaryReport{
    .info = {.name = "nvlink",
             .title = "NVLink Traffic",
             .description = "Bytes sent and received over NVLink, by GPU and link, from counters",
             .isDefault = true,
             .isSampled = true},
    .build = nvlinkSummary};

}  // namespace lanescope
