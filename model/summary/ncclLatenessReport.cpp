// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/summary/reportList.h"
#include "model/trace/communicatorId.h"
#include "model/trace/matchCollectives.h"
#include "model/values/Statistics.h"
#include "model/values/significance.h"

namespace lanescope {

namespace {

/// One collective, and when each rank entered it.
struct Entries {
    Collective calls;
    bool isOnGpu = false;
    std::vector<int64_t> enterNs;          ///< As `calls`.
    int64_t earliestNs = 0, latestNs = 0;  ///< Of `enterNs`.

    bool isLast(size_t call) const { return enterNs[call] == latestNs && latestNs > earliestNs; }
};

TimeRange rangeOfCall(const Trace& trace, uint32_t row) {
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
}

Entries entriesOf(const Trace& trace, Collective calls) {
    Entries made;
    made.calls = calls;
    made.isOnGpu = isOnGpu(trace, calls);
    for (const CollectiveCall& call : calls)
        made.enterNs.push_back(made.isOnGpu ? trace.nccl.facts[call.row].gpu.startNs
                                            : rangeOfCall(trace, call.row).startNs);
    const auto [earliest, latest] = std::minmax_element(made.enterNs.begin(), made.enterNs.end());
    made.earliestNs = *earliest;
    made.latestNs = *latest;
    return made;
}

/// Of those of which a call or the work of it overlaps what is asked about.
bool isAsked(const ReportQuery& query, const Entries& collective) {
    return std::any_of(collective.calls.begin(), collective.calls.end(),
                       [&](const CollectiveCall& call) {
                           const TimeRange cpu = rangeOfCall(query.trace, call.row);
                           const TimeRange gpu = query.trace.nccl.facts[call.row].gpu;
                           return query.includes(cpu.startNs, cpu.endNs) ||
                                  (collective.isOnGpu && query.includes(gpu.startNs, gpu.endNs));
                       });
}

/// Those that are asked about, by when the first rank entered.
std::vector<Entries> entriesAsked(const ReportQuery& query, const MatchedCollectives& matched) {
    std::vector<Entries> asked;
    for (size_t index = 0; index < matched.size(); ++index) {
        Entries each = entriesOf(query.trace, matched.at(index));
        if (isAsked(query, each)) asked.push_back(std::move(each));
    }
    std::stable_sort(asked.begin(), asked.end(),
                     [](const auto& a, const auto& b) { return a.earliestNs < b.earliestNs; });
    return asked;
}

/// As NCCL counts it within the communicator, else as the job does.
Cell rankCell(const Trace& trace, CommunicatorRank rank) {
    if (rank.number >= 0) return int64_t{rank.number};
    const std::optional<int>& ofJob = trace.processes[rank.process].rank;
    return ofJob ? Cell(int64_t{*ofJob}) : Cell();
}

void addNotes(const Trace& trace, const MatchedCollectives& matched,
              const std::vector<Entries>& asked, ReportTable& table) {
    for (const UnmatchedOperation& each : matched.unmatched())
        table.notes.push_back(fmt::format(
            "Calls of {} in communicator {} are left out: its ranks did not record the same "
            "ones.{}",
            trace.strings.at(each.operation), communicatorId(each.communicator),
            each.isNumbered ? ""
                            : " With record --nccl plugin NCCL numbers them, and those that all "
                              "ranks have count."));
    if (matched.untimed() > 0)
        table.notes.push_back(fmt::format(
            "{} calls of collectives are left out: of these only is known when they were written "
            "down. With NCCL_INSPECTOR_DUMP_VERBOSE=1 NCCL Inspector writes when they ran.",
            matched.untimed()));
    if (asked.empty()) {
        if (matched.hasCalls() && !matched.hasSeveralRanks())
            table.notes.emplace_back(
                "The trace has one rank of each communicator, so nobody can be late.");
        return;
    }
    const bool areOnGpu =
        std::all_of(asked.begin(), asked.end(), [](const Entries& each) { return each.isOnGpu; });
    table.notes.emplace_back(
        areOnGpu ? "A rank enters a collective when its kernel starts on the GPU, and is as late "
                   "as that is after the first rank's."
                 : "A rank enters a collective when its kernel starts on the GPU, or, where that "
                   "is not known of every rank, when it calls NCCL; it is as late as that is "
                   "after the first rank.");
}

/// What one rank of one communicator did.
struct RankLateness {
    std::vector<int64_t> lateNs;
    int64_t lastCount = 0;
    int64_t waitedNs = 0;  ///< For the rank that entered last.
};

ReportTable ncclLateness(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"Communicator", Unit::Text},    {"Rank", Unit::Identifier},
                     {"PID", Unit::Identifier},       {"Collectives", Unit::Count},
                     {"Last", Unit::Count},           {"Last", Unit::Percent},
                     {"Late Med", Unit::Nanoseconds}, {"Late P90", Unit::Nanoseconds},
                     {"Late Max", Unit::Nanoseconds}, {"Waited", Unit::Nanoseconds}};
    const MatchedCollectives matched(query.trace);
    const std::vector<Entries> collectives = entriesAsked(query, matched);
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
            table.rows.push_back(
                {communicatorId(communicator), rankCell(query.trace, rank),
                 int64_t{query.trace.processes[rank.process].pid}, count, late.lastCount,
                 100.0 * static_cast<double>(late.lastCount) / static_cast<double>(count),
                 quantileOf(late.lateNs, 0.5), quantileOf(late.lateNs, 0.9),
                 *std::max_element(late.lateNs.begin(), late.lateNs.end()), late.waitedNs});
        }
    }
    if (!table.rows.empty())
        table.notes.emplace_back(
            "\"Waited\" is the time, in all, from when the rank entered until the last one did.");
    addNotes(query.trace, matched, collectives, table);
    return table;
}

ReportTable ncclLatenessByCollective(const ReportQuery& query) {
    const Trace& trace = query.trace;
    ReportTable table;
    table.columns = {{"Communicator", Unit::Text}, {"Operation", Unit::Text},
                     {"Number", Unit::Identifier}, {"Size", Unit::Bytes},
                     {"Rank", Unit::Identifier},   {"PID", Unit::Identifier},
                     {"Enter", Unit::Timestamp},   {"Late", Unit::Nanoseconds},
                     {"Last", Unit::Text},         {"By", Unit::Text}};
    const MatchedCollectives matched(trace);
    const std::vector<Entries> collectives = entriesAsked(query, matched);
    for (const Entries& each : collectives) {
        for (size_t call = 0; call < each.calls.size(); ++call) {
            const CollectiveCall& of = each.calls[call];
            const int64_t bytes = trace.nccl.bytes[of.row];
            table.rows.push_back({communicatorId(of.communicator),
                                  std::string(trace.strings.at(of.operation)), of.number,
                                  bytes < 0 ? Cell() : Cell(bytes), rankCell(trace, of.rank),
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

const Report ncclLatenessReport{
    .info = {.name = "nccl_lateness",
             .title = "NCCL Lateness",
             .description = "How late each rank enters collectives, and how often it is the last",
             .isDefault = false},
    .build = ncclLateness};

const Report ncclLatenessByCollectiveReport{
    .info = {.name = "nccl_lateness:collective",
             .title = "NCCL Lateness by Collective",
             .description = "When each rank entered each collective",
             .isDefault = false},
    .build = ncclLatenessByCollective};

}  // namespace lanescope
