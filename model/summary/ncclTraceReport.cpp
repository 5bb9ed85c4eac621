// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "model/summary/reportList.h"
#include "model/trace/NcclBandwidth.h"
#include "model/trace/communicatorId.h"

namespace lanescope {

namespace {

/// A number that is negative when nobody said it.
Cell unlessNegative(int64_t number) {
    return number < 0 ? Cell() : Cell(number);
}

std::vector<Cell> rowOf(const Trace& trace, uint32_t row) {
    const NcclTable& nccl = trace.nccl;
    const NcclFacts& facts = nccl.facts[row];
    const uint32_t nvtx = nccl.nvtx[row];
    const Thread& thread = trace.threads[trace.nvtx.thread[nvtx]];
    const TimeRange range{trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
    const std::optional<NcclRate> rate = ncclRate(trace, row);
    const Cell none;
    const auto text = [&](StringIndex index) {
        return index == 0 ? none : Cell(std::string(trace.strings.at(index)));
    };
    const auto ifGpu = [&](int64_t figure) {
        return facts.operationCount == 0 ? none : Cell(figure);
    };
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

constexpr size_t rowsPerPart = 8192;  // a row takes about a kilobyte

void ncclTraceInParts(const ReportQuery& query, const PartSink& sink) {
    const Trace& trace = query.trace;
    ReportTable part;
    part.columns = {{"Start", Unit::Timestamp},
                    {"Duration", Unit::Nanoseconds},
                    {"Operation", Unit::Text},
                    {"Size", Unit::Bytes},
                    {"Type", Unit::Text},
                    {"Count", Unit::Count},
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
                    {"Communicator Name", Unit::Text}};
    // Rows stand in the order of their ranges, which is by start.
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const uint32_t nvtx = trace.nccl.nvtx[row];
        if (!query.includes(trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx])) continue;
        part.rows.push_back(rowOf(trace, row));
        if (part.rows.size() < rowsPerPart) continue;
        if (!sink(part)) return;
        part.rows.clear();
    }
    sink(part);
}

}  // namespace

const Report ncclTraceReport{.info = {.name = "nccl_trace",
                                      .title = "NCCL Trace",
                                      .description = "Every NCCL operation, by start",
                                      .isDefault = false},
                             .list = ncclTraceInParts};

}  // namespace lanescope
