// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/numbers/Statistics.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"
#include "model/trace/collectives.h"

namespace lanescope {

namespace {

constexpr size_t operationColumn = 0, cpuTimeColumn = 11, gpuTimeColumn = 12;

TimeRange rangeOfCall(const Trace& trace, uint32_t row) {
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
}

/// Returns the calls that a query includes, by start, as their ranges are.
std::vector<uint32_t> includedCalls(const ReportQuery& query) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < query.trace.nccl.size(); ++row) {
        const TimeRange range = rangeOfCall(query.trace, row);
        if (query.includes(range.startNs, range.endNs)) rows.push_back(row);
    }
    return rows;
}

/// Key of a row: operation, communicator, size, datatype, algorithm, protocol.
using Key = std::tuple<StringIndex, uint64_t, int64_t, StringIndex, StringIndex, StringIndex>;

/// All calls with the same key.
struct Calls {
    int64_t bytes = 0;
    std::vector<int64_t> cpuNs;
    std::vector<int64_t> gpuNs;  ///< Only for calls with known GPU work.
    int64_t waitedNs = 0;        ///< Sum of the known waits.
    int64_t knownWaits = 0;      ///< Number of the known waits.
    NcclTraffic traffic;         ///< For calls with a known rate; the next two as well.
    int64_t ratedNs = 0;
    double bestBusGBps = 0;
};

void add(Calls& calls, const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    calls.cpuNs.push_back(rangeOfCall(trace, row).durationNs());
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
    const auto text = [&](StringIndex index) { return index == 0 ? none : Cell(std::string(trace.strings.at(index))); };
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
    for (const uint32_t row : includedCalls(query)) {
        const NcclFacts& facts = trace.nccl.facts[row];
        add(groups[{trace.nccl.operation[row], trace.nccl.communicator[row],
                    std::max<int64_t>(trace.nccl.bytes[row], -1), facts.datatype, facts.algorithm, facts.protocol}],
            trace, row);
    }

    ReportTable table{.columns = {{"Operation", Unit::Text},
                                  {"Communicator", Unit::Text},
                                  {"Call Size", Unit::Bytes},
                                  {"Type", Unit::Text},
                                  {"Algorithm", Unit::Text},
                                  {"Protocol", Unit::Text},
                                  {"Rank Calls", Unit::Count},
                                  {"Bus BW", Unit::GigabytesPerSecond},
                                  {"Bus BW Max", Unit::GigabytesPerSecond},
                                  {"Alg BW", Unit::GigabytesPerSecond},
                                  {"Total Size", Unit::Bytes},
                                  {"CPU Time", Unit::Nanoseconds},
                                  {"GPU Time", Unit::Nanoseconds},
                                  {"Waited", Unit::Nanoseconds},
                                  {"GPU Avg", Unit::Nanoseconds},
                                  {"GPU Med", Unit::Nanoseconds},
                                  {"GPU Min", Unit::Nanoseconds},
                                  {"GPU Max", Unit::Nanoseconds}}};
    int64_t calls = 0, knownWaits = 0;
    for (auto& [key, group] : groups) {
        calls += static_cast<int64_t>(group.gpuNs.size());
        knownWaits += group.knownWaits;
        table.rows.push_back(rowOf(trace, key, group));
    }
    if (knownWaits > 0)
        table.notes.push_back(fmt::format(
            "\"Waited\" is the GPU time of a call before the last rank started; for Broadcast and Scatter, "
            "before their root started. It is known for {} of {} calls with GPU work. Bandwidths exclude it.",
            knownWaits, calls));
    if (!table.rows.empty())
        table.notes.emplace_back("A collective of 4 ranks is 4 rank calls. Times are summed over them.");
    std::ranges::stable_sort(table.rows, [](const auto& a, const auto& b) {
        if (a[gpuTimeColumn] != b[gpuTimeColumn]) return a[gpuTimeColumn] > b[gpuTimeColumn];
        return a[cpuTimeColumn] > b[cpuTimeColumn];
    });
    for (const std::vector<Cell>& row : table.rows)
        table.searches.push_back(std::get<std::string>(row[operationColumn]));
    return table;
}

/// Returns an empty cell for a negative number, which means unknown.
Cell unlessNegative(int64_t number) { return number < 0 ? Cell() : Cell(number); }

std::vector<Cell> rowOf(const Trace& trace, uint32_t row) {
    const NcclTable& nccl = trace.nccl;
    const NcclFacts& facts = nccl.facts[row];
    const Thread& thread = trace.threads[trace.nvtx.thread[nccl.nvtx[row]]];
    const TimeRange range = rangeOfCall(trace, row);
    const std::optional<NcclRate> rate = ncclRate(trace, row);
    const Cell none;
    const auto text = [&](StringIndex index) { return index == 0 ? none : Cell(std::string(trace.strings.at(index))); };
    const auto ifGpu = [&](int64_t figure) { return facts.operationCount == 0 ? none : Cell(figure); };
    return {range.startNs,
            range.durationNs(),
            std::string(trace.strings.at(nccl.operation[row])),
            unlessNegative(nccl.bytes[row]),
            text(facts.datatype),
            unlessNegative(facts.count),
            unlessNegative(facts.sequence),
            text(facts.algorithm),
            text(facts.protocol),
            unlessNegative(facts.channels),
            unlessNegative(facts.warps),
            unlessNegative(facts.root),
            unlessNegative(facts.peer),
            unlessNegative(facts.rank),
            unlessNegative(facts.rankCount),
            ifGpu(facts.gpu.startNs),
            ifGpu(facts.gpu.durationNs()),
            unlessNegative(facts.waitedNs),
            ifGpu(facts.sharedBy),
            rate ? Cell(rate->algorithmGBps()) : none,
            rate ? Cell(rate->busGBps()) : none,
            int64_t{trace.processes[thread.process].pid},
            int64_t{thread.tid},
            nccl.communicator[row] == 0 ? none : Cell(communicatorId(nccl.communicator[row])),
            text(facts.communicatorName)};
}

void ncclTraceInParts(const ReportQuery& query, const PartSink& sink) {
    const Trace& trace = query.trace;
    ReportTable part{.columns = {{"Start", Unit::Timestamp},
                                 {"Duration", Unit::Nanoseconds},
                                 {"Operation", Unit::Text},
                                 {"Size", Unit::Bytes},
                                 {"Type", Unit::Text},
                                 {"Elements", Unit::Count},
                                 {"Sequence", Unit::Identifier},
                                 {"Algorithm", Unit::Text},
                                 {"Protocol", Unit::Text},
                                 {"Channels", Unit::Count},
                                 {"Warps", Unit::Count},
                                 {"Root", Unit::Identifier},
                                 {"Peer", Unit::Identifier},
                                 {"Rank", Unit::Identifier},
                                 {"Ranks", Unit::Count},
                                 {"GPU Start", Unit::Timestamp},
                                 {"GPU Duration", Unit::Nanoseconds},
                                 {"Waited", Unit::Nanoseconds},
                                 {"GPU Shared By", Unit::Count},
                                 {"Alg BW", Unit::GigabytesPerSecond},
                                 {"Bus BW", Unit::GigabytesPerSecond},
                                 {"PID", Unit::Identifier},
                                 {"TID", Unit::Identifier},
                                 {"Communicator", Unit::Text},
                                 {"Communicator Name", Unit::Text}}};
    listInParts(
        std::move(part), includedCalls(query), [&trace](uint32_t row) { return rowOf(trace, row); }, sink);
}

/// One collective, and the time at which each rank entered it.
struct Entries {
    Collective calls;
    bool isOnGpu = false;
    std::vector<int64_t> enterNs = {};     ///< Parallel to `calls`.
    int64_t earliestNs = 0, latestNs = 0;  ///< Minimum and maximum of `enterNs`.

    bool isLast(size_t call) const { return enterNs[call] == latestNs && latestNs > earliestNs; }
};

Entries entriesOf(const Trace& trace, Collective calls) {
    Entries made{.calls = calls, .isOnGpu = isOnGpu(trace, calls)};
    for (const CollectiveCall& call : calls)
        made.enterNs.push_back(made.isOnGpu ? trace.nccl.facts[call.row].gpu.startNs
                                            : rangeOfCall(trace, call.row).startNs);
    const auto [earliest, latest] = std::ranges::minmax_element(made.enterNs);
    made.earliestNs = *earliest;
    made.latestNs = *latest;
    return made;
}

/// Returns true if a call or its work overlaps the query.
bool isAsked(const ReportQuery& query, const Entries& collective) {
    return std::ranges::any_of(collective.calls, [&](const CollectiveCall& call) {
        const TimeRange cpu = rangeOfCall(query.trace, call.row);
        const TimeRange gpu = query.trace.nccl.facts[call.row].gpu;
        return query.includes(cpu.startNs, cpu.endNs) || (collective.isOnGpu && query.includes(gpu.startNs, gpu.endNs));
    });
}

/// Returns the collectives of the query, by the time at which the first rank entered.
std::vector<Entries> includedEntries(const ReportQuery& query, const MatchedCollectives& matched) {
    std::vector<Entries> asked;
    for (size_t index = 0; index < matched.size(); ++index) {
        Entries each = entriesOf(query.trace, matched.at(index));
        if (isAsked(query, each)) asked.push_back(std::move(each));
    }
    std::ranges::stable_sort(asked, {}, [](const auto& each) { return each.earliestNs; });
    return asked;
}

/// By NCCL's number within the communicator, else by the job's.
Cell rankCell(const Trace& trace, CommunicatorRank rank) {
    if (rank.number >= 0) return int64_t{rank.number};
    const std::optional<int>& ofJob = trace.processes[rank.process].rank;
    return ofJob ? Cell(int64_t{*ofJob}) : Cell();
}

void addNotes(const Trace& trace, const MatchedCollectives& matched, const std::vector<Entries>& asked,
              ReportTable& table) {
    for (const UnmatchedOperation& each : matched.unmatched())
        table.notes.push_back(fmt::format(
            "Calls of {} in communicator {} were skipped: its ranks recorded different calls.{}",
            trace.strings.at(each.operation), communicatorId(each.communicator),
            each.isNumbered ? ""
                            : " With record --nccl plugin NCCL numbers them, and common calls of all ranks count."));
    if (matched.untimed() > 0)
        table.notes.push_back(
            fmt::format("{} calls of collectives were skipped: only their write time is known. With "
                        "NCCL_INSPECTOR_DUMP_VERBOSE=1 NCCL Inspector writes run times.",
                        matched.untimed()));
    if (asked.empty()) {
        if (matched.hasCalls() && !matched.hasSeveralRanks())
            table.notes.emplace_back("The trace has only one rank of each communicator, so lateness is unknown.");
        return;
    }
    const bool areOnGpu = std::ranges::all_of(asked, [](const Entries& each) { return each.isOnGpu; });
    table.notes.emplace_back(
        areOnGpu ? "A rank enters a collective when its kernel starts on the GPU. Its lateness is measured from the "
                   "first rank."
                 : "A rank enters a collective when its kernel starts on the GPU, or when it calls NCCL if that is "
                   "unknown for any rank. Its lateness is measured from the first rank.");
}

/// Sums of one rank in one communicator.
struct RankLateness {
    std::vector<int64_t> lateNs;
    int64_t lastCount = 0;
    int64_t waitedNs = 0;  ///< Waits for the rank that entered last.
};

ReportTable ncclLateness(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Communicator", Unit::Text},    {"Rank", Unit::Identifier},      {"PID", Unit::Identifier},
                     {"Collectives", Unit::Count},    {"Last", Unit::Count},           {"Share", Unit::Percent},
                     {"Late Med", Unit::Nanoseconds}, {"Late P90", Unit::Nanoseconds}, {"Late Max", Unit::Nanoseconds},
                     {"Waited", Unit::Nanoseconds}};
    const MatchedCollectives matched(query.trace);
    const std::vector<Entries> collectives = includedEntries(query, matched);
    std::map<uint64_t, std::map<CommunicatorRank, RankLateness>> byCommunicator;
    for (const Entries& each : collectives) {
        for (size_t call = 0; call < each.calls.size(); ++call) {
            const CollectiveCall& of = each.calls[call];
            RankLateness& rank = byCommunicator[of.communicator][of.rank];
            rank.lateNs.push_back(each.enterNs[call] - each.earliestNs);
            rank.lastCount += each.isLast(call) ? 1 : 0;
            rank.waitedNs = saturatingSum(rank.waitedNs, each.latestNs - each.enterNs[call]);
        }
    }
    for (auto& [communicator, ranks] : byCommunicator) {
        for (auto& [rank, late] : ranks) {
            const auto count = static_cast<int64_t>(late.lateNs.size());
            table.rows.push_back({communicatorId(communicator), rankCell(query.trace, rank),
                                  int64_t{query.trace.processes[rank.process].pid}, count, late.lastCount,
                                  100.0 * static_cast<double>(late.lastCount) / static_cast<double>(count),
                                  quantileOf(late.lateNs, 0.5), quantileOf(late.lateNs, 0.9),
                                  *std::ranges::max_element(late.lateNs), late.waitedNs});
        }
    }
    if (!table.rows.empty())
        table.notes.emplace_back("\"Waited\" is the total time from a rank's entry to the last rank's entry.");
    addNotes(query.trace, matched, collectives, table);
    return table;
}

ReportTable ncclLatenessByCollective(const ReportQuery& query) {
    const Trace& trace = query.trace;
    ReportTable table;
    table.columns = {{"Communicator", Unit::Text},    {"Operation", Unit::Text},   {"Number", Unit::Identifier},
                     {"Size", Unit::Bytes},           {"Rank", Unit::Identifier},  {"PID", Unit::Identifier},
                     {"Enter", Unit::Timestamp},      {"Late", Unit::Nanoseconds}, {"Last", Unit::Text},
                     {"Entry Known From", Unit::Text}};
    const MatchedCollectives matched(trace);
    const std::vector<Entries> collectives = includedEntries(query, matched);
    for (const Entries& each : collectives) {
        for (size_t call = 0; call < each.calls.size(); ++call) {
            const CollectiveCall& of = each.calls[call];
            const int64_t bytes = trace.nccl.bytes[of.row];
            table.rows.push_back({communicatorId(of.communicator), std::string(trace.strings.at(of.operation)),
                                  of.number, bytes < 0 ? Cell() : Cell(bytes), rankCell(trace, of.rank),
                                  int64_t{trace.processes[of.rank.process].pid}, each.enterNs[call],
                                  each.enterNs[call] - each.earliestNs,
                                  each.isLast(call) ? Cell(std::string("last")) : Cell(),
                                  std::string(each.isOnGpu ? "GPU" : "CPU")});
        }
    }
    addNotes(trace, matched, collectives, table);
    return table;
}

}  // namespace

const Report ncclSummaryReport{
    .info = {.name = "nccl_sum",
             .title = "NCCL Summary",
             .description = "Calls, GPU time and bus bandwidth of each NCCL operation, by communicator and size",
             .isDefault = true},
    .build = ncclSummary,
    .tab = {"NCCL", 5, [](const Trace& trace) { return trace.nccl.size() > 0; }}};

const Report ncclTraceReport{.info = {"nccl_trace", "NCCL Trace", "Every NCCL operation, in order of start"},
                             .list = ncclTraceInParts};

const Report ncclLatenessReport{
    .info = {"nccl_lateness", "NCCL Lateness", "Lateness of each rank at collectives, and how often it is last"},
    .build = ncclLateness};

const Report ncclLatenessByCollectiveReport{
    .info = {"nccl_lateness:collective", "NCCL Lateness by Collective", "Entry of each rank into each collective"},
    .build = ncclLatenessByCollective};

}  // namespace lanescope
