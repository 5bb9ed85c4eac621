// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "model/summary/reportList.h"
#include "model/trace/NcclBandwidth.h"
#include "model/trace/communicatorId.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

constexpr size_t operationColumn = 0, cpuTimeColumn = 11, gpuTimeColumn = 12;

/// What a row of the summary is of: operation, communicator, size, datatype, algorithm, protocol.
using Key = std::tuple<StringIndex, uint64_t, int64_t, StringIndex, StringIndex, StringIndex>;

/// All calls that are alike.
struct Calls {
    int64_t bytes = 0;
    std::vector<int64_t> cpuNs;
    std::vector<int64_t> gpuNs;  ///< Only of calls whose GPU work is known.
    int64_t waitedNs = 0;        ///< Of those of which it is known.
    int64_t knownWaits = 0;      ///< How many these are.
    NcclTraffic traffic;         ///< Of calls whose rate is known; the next two as well.
    int64_t ratedNs = 0;
    double bestBusGBps = 0;
};

void add(Calls& calls, const Trace& trace, uint32_t row) {
    const uint32_t nvtx = trace.nccl.nvtx[row];
    const NcclFacts& facts = trace.nccl.facts[row];
    calls.cpuNs.push_back(TimeRange{trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]}.durationNs());
    calls.bytes = saturatingSum(calls.bytes, std::max<int64_t>(trace.nccl.bytes[row], 0));
    if (facts.operationCount > 0) calls.gpuNs.push_back(facts.gpu.durationNs());
    if (facts.waitedNs >= 0) {
        calls.waitedNs = saturatingSum(calls.waitedNs, facts.waitedNs);
        ++calls.knownWaits;
    }
    if (const std::optional<NcclRate> rate = ncclRate(trace, row)) {
        calls.traffic.algorithmBytes += rate->traffic.algorithmBytes;
        calls.traffic.busBytes += rate->traffic.busBytes;
        calls.ratedNs = saturatingSum(calls.ratedNs, rate->durationNs);
        calls.bestBusGBps = std::max(calls.bestBusGBps, rate->busGBps());
    }
}

std::vector<Cell> rowOf(const Trace& trace, const Key& key, Calls& calls) {
    const auto [operation, communicator, bytes, datatype, algorithm, protocol] = key;
    const Statistics cpu = statisticsOf(calls.cpuNs);
    const Statistics gpu = statisticsOf(calls.gpuNs);
    const Cell none;
    const auto text = [&](StringIndex index) {
        return index == 0 ? none : Cell(std::string(trace.strings.at(index)));
    };
    const auto ifGpu = [&](auto figure) { return gpu.count == 0 ? none : Cell(figure); };
    const auto rate = [&](double rated) {
        return calls.ratedNs == 0 ? none : Cell(rated / static_cast<double>(calls.ratedNs));
    };
    return {std::string(trace.strings.at(operation)),
            communicator == 0 ? none : Cell(communicatorId(communicator)),
            bytes < 0 ? none : Cell(bytes),
            text(datatype),
            text(algorithm),
            text(protocol),
            cpu.count,
            rate(calls.traffic.busBytes),
            calls.ratedNs == 0 ? none : Cell(calls.bestBusGBps),
            rate(calls.traffic.algorithmBytes),
            bytes < 0 ? none : Cell(calls.bytes),
            cpu.total,
            ifGpu(gpu.total),
            calls.knownWaits == 0 ? none : Cell(calls.waitedNs),
            ifGpu(gpu.average),
            ifGpu(gpu.median),
            ifGpu(gpu.minimum),
            ifGpu(gpu.maximum)};
}

ReportTable ncclSummary(const ReportQuery& query) {
    const Trace& trace = query.trace;
    std::map<Key, Calls> groups;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const uint32_t nvtx = trace.nccl.nvtx[row];
        if (!query.includes(trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx])) continue;
        const NcclFacts& facts = trace.nccl.facts[row];
        add(groups[{trace.nccl.operation[row], trace.nccl.communicator[row],
                    std::max<int64_t>(trace.nccl.bytes[row], -1), facts.datatype, facts.algorithm,
                    facts.protocol}],
            trace, row);
    }

    ReportTable table;
    table.columns = {{"Operation", Unit::Text},
                     {"Communicator", Unit::Text},
                     {"Size", Unit::Bytes},
                     {"Type", Unit::Text},
                     {"Algorithm", Unit::Text},
                     {"Protocol", Unit::Text},
                     {"Count", Unit::Count},
                     {"Bus BW", Unit::GigabytesPerSecond},
                     {"Bus BW Max", Unit::GigabytesPerSecond},
                     {"Alg BW", Unit::GigabytesPerSecond},
                     {"Total", Unit::Bytes},
                     {"CPU Time", Unit::Nanoseconds},
                     {"GPU Time", Unit::Nanoseconds},
                     {"Waited", Unit::Nanoseconds},
                     {"GPU Avg", Unit::Nanoseconds},
                     {"GPU Med", Unit::Nanoseconds},
                     {"GPU Min", Unit::Nanoseconds},
                     {"GPU Max", Unit::Nanoseconds}};
    int64_t calls = 0, knownWaits = 0;
    for (auto& [key, group] : groups) {
        calls += static_cast<int64_t>(group.gpuNs.size());
        knownWaits += group.knownWaits;
        table.rows.push_back(rowOf(trace, key, group));
    }
    if (knownWaits > 0)
        table.notes.push_back(fmt::format(
            "\"Waited\" is the part of the GPU time before the last rank began, known of {} of {} "
            "calls with GPU work; bandwidths of these are of the rest of it.",
            knownWaits, calls));
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
        if (a[gpuTimeColumn] != b[gpuTimeColumn]) return a[gpuTimeColumn] > b[gpuTimeColumn];
        return a[cpuTimeColumn] > b[cpuTimeColumn];
    });
    for (const std::vector<Cell>& row : table.rows)
        table.searches.push_back(std::get<std::string>(row[operationColumn]));
    return table;
}

}  // namespace

const Report ncclSummaryReport{
    .info =
        {.name = "nccl_sum",
         .title = "NCCL Summary",
         .description =
             "Calls, GPU time and bus bandwidth of each NCCL operation, by communicator and size"},
    .build = ncclSummary,
    .tab = {"NCCL", 5, [](const Trace& trace) { return trace.nccl.size() > 0; }}};

}  // namespace lanescope
