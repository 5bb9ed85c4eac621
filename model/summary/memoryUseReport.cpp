// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/summary/reportList.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

bool isOfGpu(MemoryKind kind) {
    return kind == MemoryKind::Device || kind == MemoryKind::DeviceStatic ||
           kind == MemoryKind::Array || kind == MemoryKind::Unknown;
}

/// The allocations of one process, one kind of memory and, if it is a GPU's, one GPU.
struct Group {
    int64_t allocations = 0;
    int64_t frees = 0;
    int64_t bytes = 0;
    int64_t largest = 0;
    int64_t liveBytes = 0;
    std::vector<int64_t> lifetimesNs;
    std::vector<std::pair<int64_t, int64_t>> changes;  ///< When, and by how much.
};

int64_t peakOf(Group& group) {
    // What is freed in the moment of an allocation goes first, as its address may be the same.
    std::sort(group.changes.begin(), group.changes.end());
    int64_t current = 0;
    int64_t peak = group.largest;
    for (const auto& [timeNs, bytes] : group.changes) {
        current = saturatingSum(current, bytes);
        peak = std::max(peak, current);
    }
    return peak;
}

std::string deviceName(const Trace& trace, uint32_t gpu, MemoryKind kind) {
    if (gpu == noIndex) return kind == MemoryKind::Pinned ? "Host" : "";
    const Gpu& info = trace.gpus[gpu];
    return info.name.empty() ? fmt::format("GPU {}", info.id)
                             : fmt::format("{} ({})", info.name, info.id);
}

ReportTable memoryUseSummary(const ReportQuery& query) {
    const Trace& trace = query.trace;
    const AllocationTable& table = trace.allocations;
    const int64_t endNs = query.range ? query.range->endNs : trace.range.endNs;
    std::map<std::tuple<uint32_t, uint32_t, MemoryKind>, Group> groups;
    for (uint32_t row = 0; row < table.size(); ++row) {
        if (!query.includes(table.startNs[row], table.endNs[row])) continue;
        const MemoryKind kind = table.kind[row];
        Group& group = groups[{isOfGpu(kind) ? table.gpu[row] : noIndex, table.process[row], kind}];
        const int64_t bytes = table.bytes[row];
        const bool isFreed = table.isLive[row] == 0;
        ++group.allocations;
        group.bytes = saturatingSum(group.bytes, bytes);
        group.largest = std::max(group.largest, bytes);
        if (isFreed) group.lifetimesNs.push_back(table.endNs[row] - table.startNs[row]);
        if (!isFreed || table.endNs[row] > endNs)
            group.liveBytes = saturatingSum(group.liveBytes, bytes);
        else
            ++group.frees;
        // One of no length would be freed before it is there; it counts as the largest at least.
        if (isFreed && table.startNs[row] == table.endNs[row]) continue;
        group.changes.emplace_back(table.startNs[row], bytes);
        if (isFreed) group.changes.emplace_back(table.endNs[row], -bytes);
    }

    ReportTable report;
    report.columns = {{"Device", Unit::Text},       {"Memory", Unit::Text},
                      {"PID", Unit::Identifier},    {"Allocations", Unit::Count},
                      {"Frees", Unit::Count},       {"Total", Unit::Bytes},
                      {"Largest", Unit::Bytes},     {"Peak", Unit::Bytes},
                      {"Live at End", Unit::Bytes}, {"Med Lifetime", Unit::Nanoseconds}};
    for (auto& [key, group] : groups) {
        const auto& [gpu, process, kind] = key;
        Cell lifetime;
        if (!group.lifetimesNs.empty()) lifetime = medianOf(group.lifetimesNs);
        report.rows.push_back({deviceName(trace, gpu, kind), std::string(longName(kind)),
                               int64_t{trace.processes[process].pid}, group.allocations,
                               group.frees, group.bytes, group.largest, peakOf(group),
                               group.liveBytes, lifetime});
    }
    return report;
}

}  // namespace

const Report memoryUseSummaryReport{
    .info = {.name = "cuda_memory_sum",
             .title = "CUDA Memory Summary",
             .description =
                 "Allocations, peak and what was never freed, by GPU and kind of memory"},
    .build = memoryUseSummary};

}  // namespace lanescope
