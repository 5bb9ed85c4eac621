// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/summary/gpuListing.h"
#include "model/summary/reportList.h"
#include "model/summary/summaryTable.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

/// What happened to the managed memory at one address, or to all of it.
struct Moves {
    /// The bytes of those moves whose size is known.
    struct Size {
        int64_t bytes = 0;
        int64_t unknown = 0;  ///< How many moves have none.

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
        /// Empty if there are moves of which nothing is known.
        Cell cell() const { return bytes == 0 && unknown > 0 ? Cell() : Cell(bytes); }
    };
    Size toDevice;
    Size toHost;
    int64_t cpuFaults = 0;
    int64_t gpuFaults = 0;
    int64_t timeNs = 0;  ///< Of the moves between host and device whose size is known.

    int64_t bytes() const { return saturatingSum(toDevice.bytes, toHost.bytes); }
    int64_t unknown() const { return saturatingSum(toDevice.unknown, toHost.unknown); }
};

std::string hexadecimal(uint64_t address) {
    return fmt::format("{:#x}", address);
}

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
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return a.second.bytes() > b.second.bytes();
    });
    ReportTable table;
    table.columns = {
        {"Virtual Address", Unit::Text},      {"HtoD Migration Size", Unit::Bytes},
        {"DtoH Migration Size", Unit::Bytes}, {"CPU Page Faults", Unit::Count},
        {"GPU Page Faults", Unit::Count},     {"Migration Throughput", Unit::GigabytesPerSecond}};
    int64_t unknown = 0;
    for (const auto& [address, moves] : rows) {
        table.rows.push_back({hexadecimal(address), moves.toDevice.cell(), moves.toHost.cell(),
                              moves.cpuFaults, moves.gpuFaults,
                              throughputCell(moves.bytes(), moves.timeNs)});
        unknown = saturatingSum(unknown, moves.unknown());
    }
    table.notes = sizeNotes(unknown);
    return table;
}

ReportTable unifiedMemoryTotals(const ReportQuery& query) {
    const std::map<uint64_t, Moves> byAddress = movesByAddress(query);
    ReportTable table;
    table.columns = {
        {"Total HtoD Migration Size", Unit::Bytes}, {"Total DtoH Migration Size", Unit::Bytes},
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
                          hexadecimal(byAddress.begin()->first),
                          hexadecimal(byAddress.rbegin()->first)});
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
    std::sort(rows.begin(), rows.end(), [&strings](const auto& a, const auto& b) {
        if (a.second != b.second) return a.second > b.second;
        return strings.at(a.first) < strings.at(b.first);
    });
    ReportTable table;
    table.columns = {{"CPU Page Faults", Unit::Count}, {"CPU Instruction Address", Unit::Text}};
    for (const auto& [instruction, count] : rows)
        table.rows.push_back({count, std::string(strings.at(instruction))});
    return table;
}

}  // namespace

const Report unifiedMemoryTotalsReport{
    .info = {.name = "um_total_sum",
             .title = "Unified Memory Totals Summary",
             .description = "Migrations and page faults of managed memory in all"},
    .build = unifiedMemoryTotals};

const Report unifiedMemorySummaryReport{
    .info = {.name = "um_sum",
             .title = "Unified Memory Analysis Summary",
             .description = "Migrations and page faults of managed memory, by address",
             .isDefault = false},
    .build = unifiedMemorySummary};

const Report cpuFaultSummaryReport{
    .info = {.name = "um_cpu_page_faults_sum",
             .title = "Unified Memory CPU Page Faults Summary",
             .description = "Page faults of the CPU in managed memory, by instruction",
             .isDefault = false},
    .build = cpuFaultSummary};

}  // namespace lanescope
