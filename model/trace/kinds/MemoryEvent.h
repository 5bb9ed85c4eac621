// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/TableWriter.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

// Recorded like events, but no events of the trace: `buildMemory` derives allocations and counters.

/// Allocation or free of memory.
struct MemoryEvent : RecordedRows<&Trace::memoryEvents> {
    static constexpr EventKind kind = EventKind::None;
    static constexpr std::string_view plural = "memory events";

    struct Row {
        int64_t timeNs = 0, bytes = 0;
        uint64_t address = 0;
        MemoryKind kind = MemoryKind::Unknown;
        bool isFree = false;    ///< Freed, not allocated.
        bool isPooled = false;  ///< From a memory pool.
        uint32_t process = noIndex, gpu = noIndex;
        uint32_t correlation = 0;
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return row.gpu != noIndex && RecordedRows::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        Table& to = table(trace);
        to.address.push_back(row.address);
        to.kind.push_back(row.kind);
        to.isFree.push_back(row.isFree ? 1 : 0);
        to.isPooled.push_back(row.isPooled ? 1 : 0);
    }
};

/// Size of a memory pool from a point in time on.
struct MemoryPool : RecordedRows<&Trace::memoryPools> {
    static constexpr EventKind kind = EventKind::None;
    static constexpr std::string_view plural = MemoryEvent::plural;

    struct Row {
        int64_t timeNs = 0, bytes = 0;
        uint64_t address = 0;
        uint32_t process = noIndex, gpu = noIndex;
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return row.gpu != noIndex && RecordedRows::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) { table(trace).address.push_back(row.address); }
};

/// Drawn on the GPU that faulted, or on the process for a CPU fault.
struct PageFault : TableKind<EventKind::PageFault, &Trace::pageFaults> {
    static constexpr std::string_view identifier = "page_fault";
    static constexpr std::string_view name = "Page fault", plural = "page faults";
    static constexpr std::string_view trackTitle = "Page faults", trackSubtitle = "managed memory";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        uint64_t address = 0;
        int64_t count = 1;
        FaultAccess access = FaultAccess::Unknown;
        uint32_t process = noIndex;
        uint32_t gpu = noIndex;  ///< Faulting GPU; `noIndex` for the CPU.
        StringIndex instruction = 0;
    };
    static void append(Trace& trace, const Row& row) {
        PageFaultTable& table = trace.pageFaults;
        table.address.push_back(row.address);
        table.count.push_back(std::max<int64_t>(0, row.count));
        table.access.push_back(row.access);
        table.instruction.push_back(row.instruction);
    }

    static void forEachCount(const Trace& trace, auto sink) {
        const PageFaultTable& table = trace.pageFaults;
        int64_t ofCpu = 0, ofGpus = 0;
        for (uint32_t row = 0; row < table.size(); ++row) {
            int64_t& count = isOfCpu(trace, row) ? ofCpu : ofGpus;
            count = saturatingSum(count, table.count[row]);
        }
        sink(tables::cpuFaultsCounted, ofCpu);
        sink(tables::gpuFaultsCounted, ofGpus);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        const std::string_view access = nameOfAccess(trace.pageFaults.access[row]);
        return fmt::format("{} page fault{}{}", isOfCpu(trace, row) ? "CPU" : "GPU", access.empty() ? "" : ", ",
                           access);
    }
    static uint64_t nameKey(const Trace& trace, uint32_t row) {
        return static_cast<uint64_t>(trace.pageFaults.access[row]) << 1 | (isOfCpu(trace, row) ? 1 : 0);
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::ManagedMemory; }

    static constexpr std::array tracks{TrackKind::GpuEvents, TrackKind::ProcessEvents};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        if (isOfCpu(trace, row)) return {TrackKind::ProcessEvents, trace.pageFaults.process[row]};
        return {TrackKind::GpuEvents, trace.pageFaults.gpu[row]};
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const PageFaultTable& table = trace.pageFaults;
        details.add("Managed memory", nameOf(trace, row));
        details.addTimes();
        details.add("Address", fmt::format("{:#x}", table.address[row]));
        if (!isOfCpu(trace, row)) {
            details.add(tables::gpuFaultsCounted, formatCount(table.count[row]));
            details.addGpu(table.gpu[row]);
        }
        details.add("Instruction", std::string(trace.strings.at(table.instruction[row])));
        details.addProcess(table.process[row]);
    }

    /// Writes all rows to a trace file.
    static void write(const Trace& trace, TableWriter& rows) {
        constexpr const auto& c = tables::cpuPageFaults;
        constexpr const auto& g = tables::gpuPageFaults;
        const PageFaultTable& table = trace.pageFaults;
        for (uint32_t row = 0; row < table.size(); ++row) {
            const int64_t process = trace.processes[table.process[row]].globalPid;
            if (isOfCpu(trace, row))
                rows.add(c, c.start = table.startNs[row], c.globalPid = process, c.address = table.address[row],
                         c.cpuInstruction = table.instruction[row]);
            else
                rows.add(g, g.start = table.startNs[row], g.end = table.endNs[row], g.globalPid = process,
                         g.deviceId = trace.gpus[table.gpu[row]].id, g.address = table.address[row],
                         g.numberOfPageFaults = table.count[row], g.faultAccessType = table.access[row]);
        }
    }

  private:
    static bool isOfCpu(const Trace& trace, uint32_t row) { return trace.pageFaults.gpu[row] == noIndex; }
    /// Empty if unknown, as for the CPU.
    static std::string_view nameOfAccess(FaultAccess access) {
        return enumText(access, {"", "read", "write", "atomic", "prefetch"});
    }
};

}  // namespace lanescope::kinds
