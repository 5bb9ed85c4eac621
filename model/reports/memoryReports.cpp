// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"

namespace lanescope {

namespace {

/// In addition to the memcpy kinds in the same summary.
constexpr uint64_t memsetKey = memcpyKindCount;

std::vector<SummaryRow> rowsByOperation(GroupedValues& values) {
    std::vector<SummaryRow> rows;
    for (GroupedValues::Group& group : values.groups()) {
        if (group.key == memsetKey) {
            rows.push_back({group, {"[CUDA memset]"}, "memset"});
            continue;
        }
        const auto kind = static_cast<MemcpyKind>(group.key);
        rows.push_back({group, {fmt::format("[CUDA memcpy {}]", longName(kind))}, searchName(kind)});
    }
    return rows;
}

/// Calls `add(key, startNs, endNs, bytes)` for every memcpy and memset of the query.
void forEachOperation(const ReportQuery& query, auto add) {
    const MemcpyTable& memcpys = query.trace.memcpys;
    for (uint32_t row = 0; row < memcpys.size(); ++row) {
        if (query.includes(memcpys.startNs[row], memcpys.endNs[row]))
            add(static_cast<uint64_t>(memcpys.kind[row]), memcpys.startNs[row], memcpys.endNs[row], memcpys.bytes[row]);
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
    return summaryTable({.countColumn = "Count", .labelColumns = {"Operation"}}, rowsByOperation(durations));
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

bool isOfGpu(MemoryKind kind) {
    return kind == MemoryKind::Device || kind == MemoryKind::DeviceStatic || kind == MemoryKind::Array ||
           kind == MemoryKind::Unknown;
}

/// The allocations of one process, one kind of memory and, if it is a GPU's, one GPU.
struct Group {
    int64_t allocations = 0;
    int64_t frees = 0;
    int64_t bytes = 0;
    int64_t largest = 0;
    int64_t liveBytes = 0;
    std::vector<int64_t> lifetimesNs;
    std::vector<std::pair<int64_t, int64_t>> changes;  ///< Times and amounts.
};

int64_t peakOf(Group& group) {
    // Frees sort before allocations at the same time, as the address may be the same.
    std::ranges::sort(group.changes);
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
    return gpuName(trace.gpus[gpu]);
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
        // An allocation without duration would be freed before it exists; it counts at least for the largest.
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
                               int64_t{trace.processes[process].pid}, group.allocations, group.frees, group.bytes,
                               group.largest, peakOf(group), group.liveBytes, lifetime});
    }
    return report;
}

/// Moves of the managed memory at one address, or of all of it.
struct Moves {
    /// Bytes of the moves with a known size.
    struct Size {
        int64_t bytes = 0;
        int64_t unknown = 0;  ///< Number of moves without one.

        void add(int64_t more) {
            if (hasSize(more))
                bytes = saturatingSum(bytes, more);
            else
                ++unknown;
        }
        void add(const Size& more) {
            bytes = saturatingSum(bytes, more.bytes);
            unknown = saturatingSum(unknown, more.unknown);
        }
        /// Empty if all sizes are unknown.
        Cell cell() const { return bytes == 0 && unknown > 0 ? Cell() : Cell(bytes); }
    };
    Size toDevice;
    Size toHost;
    int64_t cpuFaults = 0;
    int64_t gpuFaults = 0;
    int64_t timeNs = 0;  ///< Time of the moves between host and device with a known size.

    int64_t bytes() const { return saturatingSum(toDevice.bytes, toHost.bytes); }
    int64_t unknown() const { return saturatingSum(toDevice.unknown, toHost.unknown); }
};

std::string hexadecimal(uint64_t address) { return fmt::format("{:#x}", address); }

std::map<uint64_t, Moves> movesByAddress(const ReportQuery& query) {
    std::map<uint64_t, Moves> moves;
    const MemcpyTable& copies = query.trace.memcpys;
    const MigrationTable& migrations = query.trace.migrations;
    for (uint32_t index = 0; index < migrations.size(); ++index) {
        const uint32_t row = migrations.memcpy[index];
        if (!query.includes(copies.startNs[row], copies.endNs[row])) continue;
        Moves& at = moves[migrations.address[index]];
        const bool isToDevice = copies.kind[row] == MemcpyKind::UvmHtoD;
        if (!isToDevice && copies.kind[row] != MemcpyKind::UvmDtoH) continue;
        (isToDevice ? at.toDevice : at.toHost).add(copies.bytes[row]);
        if (!hasSize(copies.bytes[row])) continue;
        at.timeNs = saturatingSum(at.timeNs, copies.endNs[row] - copies.startNs[row]);
    }
    const PageFaultTable& faults = query.trace.pageFaults;
    for (uint32_t row = 0; row < faults.size(); ++row) {
        if (!query.includes(faults.startNs[row], faults.endNs[row])) continue;
        Moves& at = moves[faults.address[row]];
        int64_t& count = faults.gpu[row] == noIndex ? at.cpuFaults : at.gpuFaults;
        count = saturatingSum(count, faults.count[row]);
    }
    return moves;
}

ReportTable unifiedMemorySummary(const ReportQuery& query) {
    const std::map<uint64_t, Moves> byAddress = movesByAddress(query);
    std::vector<std::pair<uint64_t, Moves>> rows(byAddress.begin(), byAddress.end());
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& each) { return each.second.bytes(); });
    ReportTable table;
    table.columns = {{"Virtual Address", Unit::Text},      {"HtoD Migration Size", Unit::Bytes},
                     {"DtoH Migration Size", Unit::Bytes}, {"CPU Page Faults", Unit::Count},
                     {"GPU Page Faults", Unit::Count},     {"Migration Throughput", Unit::GigabytesPerSecond}};
    int64_t unknown = 0;
    for (const auto& [address, moves] : rows) {
        table.rows.push_back({hexadecimal(address), moves.toDevice.cell(), moves.toHost.cell(), moves.cpuFaults,
                              moves.gpuFaults, throughputCell(moves.bytes(), moves.timeNs)});
        unknown = saturatingSum(unknown, moves.unknown());
    }
    table.notes = sizeNotes(unknown);
    return table;
}

ReportTable unifiedMemoryTotals(const ReportQuery& query) {
    const std::map<uint64_t, Moves> byAddress = movesByAddress(query);
    ReportTable table;
    table.columns = {{"Total HtoD Migration Size", Unit::Bytes}, {"Total DtoH Migration Size", Unit::Bytes},
                     {"Total CPU Page Faults", Unit::Count},     {"Total GPU Page Faults", Unit::Count},
                     {"Minimum Virtual Address", Unit::Text},    {"Maximum Virtual Address", Unit::Text}};
    if (byAddress.empty()) return table;
    Moves all;
    for (const auto& [address, moves] : byAddress) {
        all.toDevice.add(moves.toDevice);
        all.toHost.add(moves.toHost);
        all.cpuFaults = saturatingSum(all.cpuFaults, moves.cpuFaults);
        all.gpuFaults = saturatingSum(all.gpuFaults, moves.gpuFaults);
    }
    table.notes = sizeNotes(all.unknown());
    table.rows.push_back({all.toDevice.cell(), all.toHost.cell(), all.cpuFaults, all.gpuFaults,
                          hexadecimal(byAddress.begin()->first), hexadecimal(byAddress.rbegin()->first)});
    return table;
}

ReportTable cpuFaultSummary(const ReportQuery& query) {
    const PageFaultTable& faults = query.trace.pageFaults;
    std::map<StringIndex, int64_t> byInstruction;
    for (uint32_t row = 0; row < faults.size(); ++row)
        if (faults.gpu[row] == noIndex && query.includes(faults.startNs[row], faults.endNs[row]))
            ++byInstruction[faults.instruction[row]];
    std::vector<std::pair<StringIndex, int64_t>> rows(byInstruction.begin(), byInstruction.end());
    const StringTable& strings = query.trace.strings;
    std::ranges::sort(rows, [&strings](const auto& a, const auto& b) {
        if (a.second != b.second) return a.second > b.second;
        return strings.at(a.first) < strings.at(b.first);
    });
    ReportTable table{.columns = {{"CPU Page Faults", Unit::Count}, {"CPU Instruction Address", Unit::Text}}};
    for (const auto& [instruction, count] : rows) table.rows.push_back({count, std::string(strings.at(instruction))});
    return table;
}

}  // namespace

const Report memoryTimeSummaryReport{.info = {.name = "cuda_gpu_mem_time_sum",
                                              .title = "CUDA GPU MemOps Summary (by Time)",
                                              .description = "Time of each kind of memcpy and of memsets",
                                              .isDefault = true},
                                     .build = memoryTimeSummary};

const Report memorySizeSummaryReport{.info = {.name = "cuda_gpu_mem_size_sum",
                                              .title = "CUDA GPU MemOps Summary (by Size)",
                                              .description = "Bytes of each kind of memcpy and of memsets",
                                              .isDefault = true},
                                     .build = memorySizeSummary};

const Report memoryUseSummaryReport{
    .info = {.name = "cuda_memory_sum",
             .title = "CUDA Memory Summary",
             .description = "Allocations, peak and unfreed memory, by GPU and kind of memory",
             .isDefault = true},
    .build = memoryUseSummary};

const Report unifiedMemoryTotalsReport{.info = {.name = "um_total_sum",
                                                .title = "Unified Memory Totals Summary",
                                                .description = "Totals of migrations and page faults of managed memory",
                                                .isDefault = true},
                                       .build = unifiedMemoryTotals};

const Report unifiedMemorySummaryReport{
    .info = {"um_sum", "Unified Memory Analysis Summary", "Migrations and page faults of managed memory, by address"},
    .build = unifiedMemorySummary};

const Report cpuFaultSummaryReport{.info = {"um_cpu_page_faults_sum", "Unified Memory CPU Page Faults Summary",
                                            "Page faults of the CPU in managed memory, by instruction"},
                                   .build = cpuFaultSummary};

}  // namespace lanescope
