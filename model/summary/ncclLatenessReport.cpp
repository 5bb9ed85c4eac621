// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/summary/reportList.h"
#include "model/values/Statistics.h"
#include "model/values/significance.h"

namespace lanescope {

namespace {

/// A rank of a communicator as far as the trace tells: its number, which is -1 if NCCL did not say,
/// and the process.
using Rank = std::pair<int32_t, uint32_t>;
/// Rows of `NcclTable`, in the order of the calls.
using CallsByRank = std::map<Rank, std::vector<uint32_t>>;

/// One collective as all ranks of its communicator took part in it.
struct Collective {
    uint64_t communicator = 0;
    StringIndex operation = 0;
    int64_t number = 0;  ///< NCCL's sequence number, else which it is of its operation, from 0.
    bool isOnGpu = false;
    std::vector<std::pair<Rank, uint32_t>> calls;  ///< With the row of each.
    std::vector<int64_t> enterNs;                  ///< As `calls`.
    int64_t earliestNs = 0, latestNs = 0;          ///< Of `enterNs`.

    bool isLast(size_t call) const { return enterNs[call] == latestNs && latestNs > earliestNs; }
};

/// An operation that the ranks of a communicator did not call alike, as far as the trace tells.
struct Unmatched {
    uint64_t communicator = 0;
    StringIndex operation = 0;
    bool isNumbered = false;  ///< By NCCL, each call.
};

struct Matched {
    std::vector<Collective> all;  ///< By when the first rank entered.
    std::vector<Unmatched> unmatched;
    bool hasCalls = false;
    bool hasSeveralRanks = false;  ///< Some communicator has.
};

std::string hexOf(uint64_t communicator) {
    return fmt::format("0x{:016x}", communicator);
}

TimeRange rangeOfCall(const Trace& trace, uint32_t row) {
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
}

/// A message goes from one rank to another: nobody else waits for it.
bool isCollective(std::string_view operation) {
    return operation != "Send" && operation != "Recv";
}

/// Whether NCCL's plugin told the number of every call.
bool areNumbered(const Trace& trace, const CallsByRank& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), [&](const auto& each) {
        return std::all_of(each.second.begin(), each.second.end(),
                           [&](uint32_t row) { return trace.nccl.facts[row].sequence >= 0; });
    });
}

/// The calls of one operation that belong together: by NCCL's numbers if it told all of them, else
/// the n-th of each rank, which is safe only if all ranks have as many, of the same sizes. None if
/// they do not fit.
std::map<int64_t, std::vector<std::pair<Rank, uint32_t>>> matched(const Trace& trace,
                                                                  const CallsByRank& ranks,
                                                                  bool isNumbered) {
    std::map<int64_t, std::vector<std::pair<Rank, uint32_t>>> byNumber;
    for (const auto& [rank, rows] : ranks) {
        int64_t number = 0;
        for (const uint32_t row : rows)
            byNumber[isNumbered ? trace.nccl.facts[row].sequence : number++].emplace_back(rank,
                                                                                          row);
    }
    for (const auto& [number, calls] : byNumber) {
        const int64_t firstBytes = trace.nccl.bytes[calls.front().second];
        const auto isOdd = [&](const auto& call) {
            return trace.nccl.bytes[call.second] != firstBytes;
        };
        const bool isWhole = calls.size() == ranks.size();
        if (!isNumbered && (!isWhole || std::any_of(calls.begin(), calls.end(), isOdd))) return {};
    }
    // One that some rank did not live to see, or called twice by what a damaged file says.
    std::erase_if(byNumber, [&](const auto& each) {
        const auto& calls = each.second;
        const auto isSame = [](const auto& a, const auto& b) { return a.first == b.first; };
        return calls.size() != ranks.size() ||
               std::adjacent_find(calls.begin(), calls.end(), isSame) != calls.end();
    });
    return byNumber;
}

Collective collectiveOf(const Trace& trace, std::vector<std::pair<Rank, uint32_t>> calls) {
    Collective made;
    made.communicator = trace.nccl.communicator[calls.front().second];
    made.operation = trace.nccl.operation[calls.front().second];
    made.isOnGpu = std::all_of(calls.begin(), calls.end(), [&](const auto& call) {
        return trace.nccl.facts[call.second].operationCount > 0;
    });
    for (const auto& [rank, row] : calls)
        made.enterNs.push_back(made.isOnGpu ? trace.nccl.facts[row].gpu.startNs
                                            : rangeOfCall(trace, row).startNs);
    const auto [earliest, latest] = std::minmax_element(made.enterNs.begin(), made.enterNs.end());
    made.earliestNs = *earliest;
    made.latestNs = *latest;
    made.calls = std::move(calls);
    return made;
}

/// Of those of which a call or the work of it overlaps what is asked about.
bool isAsked(const ReportQuery& query, const Collective& collective) {
    return std::any_of(collective.calls.begin(), collective.calls.end(), [&](const auto& call) {
        const TimeRange cpu = rangeOfCall(query.trace, call.second);
        const TimeRange gpu = query.trace.nccl.facts[call.second].gpu;
        return query.includes(cpu.startNs, cpu.endNs) ||
               (collective.isOnGpu && query.includes(gpu.startNs, gpu.endNs));
    });
}

Matched collectivesOf(const ReportQuery& query) {
    const Trace& trace = query.trace;
    std::map<uint64_t, std::map<StringIndex, CallsByRank>> communicators;
    std::map<uint64_t, std::map<Rank, bool>> ranksOf;
    Matched found;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const uint64_t communicator = trace.nccl.communicator[row];
        if (communicator == 0 || !isCollective(trace.strings.at(trace.nccl.operation[row])))
            continue;
        const uint32_t thread = trace.nvtx.thread[trace.nccl.nvtx[row]];
        const NcclFacts facts = trace.nccl.facts[row];
        // What is captured into a graph runs later, as often as the graph.
        if (facts.isCaptured) continue;
        const Rank rank{facts.rank, trace.threads[thread].process};
        communicators[communicator][trace.nccl.operation[row]][rank].push_back(row);
        ranksOf[communicator][rank] = true;
        found.hasCalls = true;
    }
    for (const auto& [communicator, operations] : communicators) {
        const size_t rankCount = ranksOf[communicator].size();
        if (rankCount < 2) continue;
        found.hasSeveralRanks = true;
        for (const auto& [operation, ranks] : operations) {
            const bool isNumbered = areNumbered(trace, ranks);
            auto byNumber = matched(trace, ranks, isNumbered);
            // One that a rank never called, or none that all of them did.
            if (ranks.size() != rankCount || byNumber.empty()) {
                found.unmatched.push_back({communicator, operation, isNumbered});
                continue;
            }
            for (auto& [number, calls] : byNumber) {
                Collective collective = collectiveOf(trace, std::move(calls));
                collective.number = number;
                if (isAsked(query, collective)) found.all.push_back(std::move(collective));
            }
        }
    }
    std::stable_sort(found.all.begin(), found.all.end(),
                     [](const auto& a, const auto& b) { return a.earliestNs < b.earliestNs; });
    return found;
}

/// As NCCL counts it within the communicator, else as the job does.
Cell rankCell(const Trace& trace, const Rank& rank) {
    if (rank.first >= 0) return int64_t{rank.first};
    const std::optional<int>& ofJob = trace.processes[rank.second].rank;
    return ofJob ? Cell(int64_t{*ofJob}) : Cell();
}

void addNotes(const Trace& trace, const Matched& collectives, ReportTable& table) {
    for (const Unmatched& each : collectives.unmatched)
        table.notes.push_back(fmt::format(
            "Calls of {} in communicator {} are left out: its ranks did not record the same "
            "ones.{}",
            trace.strings.at(each.operation), hexOf(each.communicator),
            each.isNumbered ? ""
                            : " With record --nccl plugin NCCL numbers them, and those that all "
                              "ranks have count."));
    if (collectives.all.empty()) {
        if (collectives.hasCalls && !collectives.hasSeveralRanks)
            table.notes.emplace_back(
                "The trace has one rank of each communicator, so nobody can be late.");
        return;
    }
    const bool areOnGpu = std::all_of(collectives.all.begin(), collectives.all.end(),
                                      [](const Collective& each) { return each.isOnGpu; });
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
    const Matched collectives = collectivesOf(query);
    std::map<uint64_t, std::map<Rank, RankLateness>> byCommunicator;
    for (const Collective& each : collectives.all) {
        for (size_t call = 0; call < each.calls.size(); ++call) {
            RankLateness& rank = byCommunicator[each.communicator][each.calls[call].first];
            rank.lateNs.push_back(each.enterNs[call] - each.earliestNs);
            rank.lastCount += each.isLast(call) ? 1 : 0;
            rank.waitedNs = saturatingSum(rank.waitedNs, each.latestNs - each.enterNs[call]);
        }
    }
    for (auto& [communicator, ranks] : byCommunicator) {
        for (auto& [rank, late] : ranks) {
            const auto count = static_cast<int64_t>(late.lateNs.size());
            table.rows.push_back(
                {hexOf(communicator), rankCell(query.trace, rank),
                 int64_t{query.trace.processes[rank.second].pid}, count, late.lastCount,
                 100.0 * static_cast<double>(late.lastCount) / static_cast<double>(count),
                 quantileOf(late.lateNs, 0.5), quantileOf(late.lateNs, 0.9),
                 *std::max_element(late.lateNs.begin(), late.lateNs.end()), late.waitedNs});
        }
    }
    if (!table.rows.empty())
        table.notes.emplace_back(
            "\"Waited\" is the time, in all, from when the rank entered until the last one did.");
    addNotes(query.trace, collectives, table);
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
    const Matched collectives = collectivesOf(query);
    for (const Collective& each : collectives.all) {
        for (size_t call = 0; call < each.calls.size(); ++call) {
            const auto& [rank, row] = each.calls[call];
            const int64_t bytes = trace.nccl.bytes[row];
            table.rows.push_back({hexOf(each.communicator),
                                  std::string(trace.strings.at(each.operation)), each.number,
                                  bytes < 0 ? Cell() : Cell(bytes), rankCell(trace, rank),
                                  int64_t{trace.processes[rank.second].pid}, each.enterNs[call],
                                  each.enterNs[call] - each.earliestNs,
                                  each.isLast(call) ? Cell(std::string("last")) : Cell(),
                                  std::string(each.isOnGpu ? "GPU" : "CPU")});
        }
    }
    addNotes(trace, collectives, table);
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
