// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "model/bandwidth/LinkUse.h"
#include "model/bandwidth/NvlinkVerdict.h"
#include "model/summary/linkCounters.h"
#include "model/summary/reportList.h"

namespace lanescope {

namespace {

CounterIntegral integralOrNothing(const CounterSeries* series, TimeRange range) {
    return series ? integralOf(*series, range) : CounterIntegral{};
}

Cell rateOf(const CounterIntegral& integral) {
    return integral.hasValue() ? Cell(integral.mean() / 1e9) : Cell();
}

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
    if (!table.rows.empty())
        for (std::string& note : spanNotes(query.trace, query.range))
            table.notes.push_back(std::move(note));
    return table;
}

}  // namespace

const Report nvlinkSummaryReport{
    .info = {.name = "nvlink",
             .title = "NVLink Traffic",
             .description =
                 "Bytes that each GPU sent and received over NVLink, by link, by its counters",
             .isSampled = true},
    .build = nvlinkSummary};

}  // namespace lanescope
