// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "model/trace/kinds/OfTable.h"
#include "model/values/formatValue.h"

namespace lanescope::kinds {

/// Drawn on the GPU that faulted, or on the process if a CPU did.
struct PageFault : OfTable<EventKind::PageFault, &Trace::pageFaults> {
    static constexpr std::string_view identifier = "page_fault";
    static constexpr std::string_view name = "Page fault", plural = "page faults";
    static constexpr std::string_view trackTitle = "Page faults", trackSubtitle = "managed memory";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        uint64_t address = 0;
        int64_t count = 1;
        FaultAccess access = FaultAccess::Unknown;
        uint32_t process = noIndex;
        uint32_t gpu = noIndex;  ///< That faulted; `noIndex` for the CPU.
        StringIndex instruction = 0;
    };
    static void append(Trace& trace, const Row& row) {
        PageFaultTable& table = trace.pageFaults;
        table.address.push_back(row.address);
        table.count.push_back(std::max<int64_t>(0, row.count));
        table.access.push_back(row.access);
        table.instruction.push_back(row.instruction);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        const std::string_view access = nameOfAccess(trace.pageFaults.access[row]);
        return fmt::format("{} page fault{}{}", isOfCpu(trace, row) ? "CPU" : "GPU",
                           access.empty() ? "" : ", ", access);
    }
    static uint64_t nameKey(const Trace& trace, uint32_t row) {
        return static_cast<uint64_t>(trace.pageFaults.access[row]) << 1 |
               (isOfCpu(trace, row) ? 1 : 0);
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
            details.add("Fault groups", formatCount(table.count[row]));
            details.addGpu(table.gpu[row]);
        }
        details.add("Instruction", std::string(trace.strings.at(table.instruction[row])));
        details.addProcess(table.process[row]);
    }

  private:
    static bool isOfCpu(const Trace& trace, uint32_t row) {
        return trace.pageFaults.gpu[row] == noIndex;
    }
    /// Empty if unknown, as it is for the CPU.
    static std::string_view nameOfAccess(FaultAccess access) {
        switch (access) {
            case FaultAccess::Read:
                return "read";
            case FaultAccess::Write:
                return "write";
            case FaultAccess::Atomic:
                return "atomic";
            case FaultAccess::Prefetch:
                return "prefetch";
            case FaultAccess::Unknown:
                break;
        }
        return "";
    }
};

}  // namespace lanescope::kinds
