// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/summary/GroupedValues.h"
#include "model/summary/gpuListing.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"

namespace lanescope {

namespace {

/// Beside the memcpy kinds in the same summary.
constexpr uint64_t memsetKey = memcpyKindCount;

std::vector<SummaryRow> rowsByOperation(GroupedValues& values) {
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : values.groups()) {
        if (group.key == memsetKey) {
            rows.push_back({group, {"[CUDA memset]"}, "memset"});
            continue;
        }
        const auto kind = static_cast<MemcpyKind>(group.key);
        rows.push_back(
            {group, {fmt::format("[CUDA memcpy {}]", longName(kind))}, searchName(kind)});
    }
    return rows;
}

/// Calls `add(key, startNs, endNs, bytes)` for every memcpy and memset of the query.
template <class Add>
void forEachOperation(const ReportQuery& query, Add add) {
    const MemcpyTable& memcpys = query.trace.memcpys;
    for (uint32_t row = 0; row < memcpys.size(); ++row) {
        if (query.includes(memcpys.startNs[row], memcpys.endNs[row]))
            add(static_cast<uint64_t>(memcpys.kind[row]), memcpys.startNs[row], memcpys.endNs[row],
                memcpys.bytes[row]);
    }
    const MemsetTable& memsets = query.trace.memsets;
    for (uint32_t row = 0; row < memsets.size(); ++row) {
        if (query.includes(memsets.startNs[row], memsets.endNs[row]))
            add(memsetKey, memsets.startNs[row], memsets.endNs[row], memsets.bytes[row]);
    }
}

ReportTable memoryTimeSummary(const ReportQuery& query) {
    GroupedValues durations;
    forEachOperation(query, [&](uint64_t key, int64_t startNs, int64_t endNs, int64_t) {
        durations.addTime(key, query, startNs, endNs);
    });
    return summaryTable({.countColumn = "Count", .labelColumns = {"Operation"}},
                        rowsByOperation(durations));
}

ReportTable memorySizeSummary(const ReportQuery& query) {
    GroupedValues sizes;
    int64_t unknown = 0;
    forEachOperation(query, [&](uint64_t key, int64_t, int64_t, int64_t bytes) {
        if (hasSize(bytes)) {
            sizes.add(key, bytes);
            return;
        }
        sizes.addUnknown(key);
        ++unknown;
    });
    ReportTable table = summaryTable({.unit = Unit::Bytes,
                                      .hasShare = false,
                                      .totalColumn = "Total",
                                      .countColumn = "Count",
                                      .labelColumns = {"Operation"}},
                                     rowsByOperation(sizes));
    for (std::string& note : sizeNotes(unknown)) table.notes.push_back(std::move(note));
    return table;
}

}  // namespace

const Report memoryTimeSummaryReport{
    .info = {.name = "cuda_gpu_mem_time_sum",
             .title = "CUDA GPU MemOps Summary (by Time)",
             .description = "Time of each kind of memcpy and of memsets"},
    .build = memoryTimeSummary};

const Report memorySizeSummaryReport{
    .info = {.name = "cuda_gpu_mem_size_sum",
             .title = "CUDA GPU MemOps Summary (by Size)",
             .description = "Bytes of each kind of memcpy and of memsets"},
    .build = memorySizeSummary};

}  // namespace lanescope
