// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/CutRows.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lanescope {

namespace {

uint64_t callKey(uint32_t process, uint32_t correlation) { return uint64_t{process} << 32 | correlation; }

}  // namespace

WindowedRows::WindowedRows(const Trace& part, const ClockMap& clock, std::vector<TimeRange> windows)
    : part_(part), clock_(clock), windows_(std::move(windows)) {
    for (const TimeRange& window : windows_)
        if (!window.isEmpty()) whole_ = whole_.isEmpty() ? window : whole_.united(window);
    for (const Stream& stream : part.streams)
        if (isTaken(stream.process)) gpus_.insert(stream.gpu);
    for (const uint32_t row : of(part.apiCalls))
        calls_.insert(callKey(processOf(part.apiCalls, row), part.apiCalls.correlation[row]));
}

template <class Table>
void WindowedRows::takeLaunchesOf(const Table& table, EventKind kind, std::vector<uint32_t>& calls) const {
    for (const uint32_t row : of(table)) {
        const EventRef call = part_.launchingCall(EventRef(kind, row));
        if (call.isValid() && isTaken(processOf(part_.apiCalls, call.row()))) calls.push_back(call.row());
    }
}

std::vector<uint32_t> WindowedRows::of(const ApiTable& table) const {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row)
        if (const uint32_t process = processOf(table, row); isTaken(process) && isInWindow(table, row, process))
            rows.push_back(row);
    takeLaunchesOf(part_.kernels, EventKind::Kernel, rows);
    takeLaunchesOf(part_.memcpys, EventKind::Memcpy, rows);
    takeLaunchesOf(part_.memsets, EventKind::Memset, rows);
    takeLaunchesOf(part_.graphs, EventKind::Graph, rows);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const NvtxTable& table) const {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = processOf(table, row);
        if (!isTaken(process)) continue;
        const TimeRange times = timesOf(table, row), window = windows_[process];
        const bool lies = times.startNs >= window.startNs && times.endNs <= window.endNs;
        const bool spans = times.startNs <= window.startNs && times.endNs >= window.endNs;
        if (lies || spans) rows.push_back(row);
    }
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const GraphNodeTable& table) const {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row)
        if (isTaken(processOf(table, row))) rows.push_back(row);
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const MemoryEventTable& table) const {
    // Allocations that are live at the start of the window, by process, address and time.
    std::vector<std::tuple<uint32_t, uint64_t, int64_t>> live;
    const AllocationTable& allocations = part_.allocations;
    for (uint32_t row = 0; row < allocations.size(); ++row) {
        const uint32_t process = allocations.process[row];
        if (isTaken(process) && clock_.at(allocations.startNs[row]) < windows_[process].startNs &&
            clock_.at(allocations.endNs[row]) >= windows_[process].startNs)
            live.emplace_back(process, allocations.address[row], allocations.startNs[row]);
    }
    std::sort(live.begin(), live.end());
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = table.process[row];
        if (!isTaken(process)) continue;
        const int64_t timeNs = clock_.at(table.timeNs[row]);
        if (timeNs >= windows_[process].endNs) continue;
        if (timeNs >= windows_[process].startNs ||
            (table.isFree[row] == 0 &&
             std::binary_search(live.begin(), live.end(), std::tuple(process, table.address[row], table.timeNs[row]))))
            rows.push_back(row);
    }
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const MemoryPoolTable& table) const {
    std::vector<uint32_t> rows;
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> before;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = table.process[row];
        if (!isTaken(process)) continue;
        const int64_t timeNs = clock_.at(table.timeNs[row]);
        if (timeNs < windows_[process].startNs)
            before[{process, table.gpu[row], table.address[row]}] = row;
        else if (timeNs < windows_[process].endNs)
            rows.push_back(row);
    }
    for (const auto& [pool, row] : before) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::vector<uint32_t> WindowedRows::of(const MigrationTable& table, const std::vector<uint32_t>& memcpys) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t memcpy = table.memcpy[row];
        if (memcpy < memcpys.size() && memcpys[memcpy] != noIndex) rows.push_back(row);
    }
    return rows;
}

bool WindowedRows::isCallTaken(uint32_t process, uint32_t correlation) const {
    return calls_.contains(callKey(process, correlation));
}

}  // namespace lanescope
