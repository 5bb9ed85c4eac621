// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "model/text/formatValue.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

/// State of a CPU thread over an interval: drawn below its calls, with its stack as a flame chart below.
struct CpuState : TableKind<EventKind::CpuState, &Trace::cpuStates> {
    static constexpr std::string_view identifier = "thread_state";
    static constexpr std::string_view name = "Thread state", plural = "thread states";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        uint32_t thread = noIndex;
        ThreadState state = ThreadState::Unknown;
        StateSource source = StateSource::StateSamples;
        int64_t cpuNs = 0, delayNs = 0;
        StringIndex call = 0;
        uint32_t stack = noIndex;
        uint32_t holder = noIndex, holderStack = noIndex;
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return (row.holderStack == noIndex || row.holderStack < trace.stacks.size()) &&
               (row.holder == noIndex || row.holder < trace.threads.size()) && TableKind::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        CpuStateTable& table = trace.cpuStates;
        table.state.push_back(row.state);
        table.source.push_back(row.source);
        table.cpuNs.push_back(std::clamp<int64_t>(row.cpuNs, 0, maxTimestampNs));
        table.delayNs.push_back(std::clamp<int64_t>(row.delayNs, 0, maxTimestampNs));
        table.call.push_back(row.call);
        table.holder.push_back(row.holder);
        table.holderStack.push_back(row.holderStack);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        const CpuStateTable& table = trace.cpuStates;
        if (table.source[row] == StateSource::Calls && table.call[row] != 0)
            return std::string(trace.strings.at(table.call[row]));
        return stateText(table.state[row], isMixed(trace, row));
    }
    static uint64_t nameKey(const Trace& trace, uint32_t row) {
        const CpuStateTable& table = trace.cpuStates;
        const uint64_t call = table.source[row] == StateSource::Calls ? table.call[row] : 0;
        const uint64_t mixed = isMixed(trace, row) ? 0x80 : 0;
        return call << 8 | mixed | static_cast<uint64_t>(table.state[row]);
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        if (isMixed(trace, row)) return SliceCategory::CpuMixed;
        switch (trace.cpuStates.state[row]) {
            case ThreadState::Running: return SliceCategory::CpuRunning;
            case ThreadState::Runnable: return SliceCategory::CpuRunnable;
            case ThreadState::Gil: return SliceCategory::CpuGil;
            case ThreadState::Lock:
            case ThreadState::Child: return SliceCategory::CpuLock;
            case ThreadState::Poll:
            case ThreadState::Disk:
            case ThreadState::Device: return SliceCategory::CpuInput;
            case ThreadState::Sleep:
            case ThreadState::Blocked:
            case ThreadState::Unknown: break;
        }
        return SliceCategory::CpuSleep;
    }

    // Flame charts summarize them.
    static constexpr std::array tracks{TrackKind::ThreadStates};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        if (trace.cpuStates.source[row] == StateSource::Samples) return {};
        return {TrackKind::ThreadStates, trace.cpuStates.thread[row]};
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const CpuStateTable& table = trace.cpuStates;
        details.add(table.source[row] == StateSource::Calls ? "Call" : "Thread", nameOf(trace, row));
        details.add("Which", std::string(lanescope::nameOf(table.state[row]).meaning));
        if (isMixed(trace, row)) details.add("Undersampled", "runs and waits alternately between samples");
        details.addTimes();
        details.addThread(table.thread[row]);
        const bool isScheduled = table.source[row] == StateSource::Scheduler;
        if (table.source[row] == StateSource::StateSamples || isScheduled) {
            details.add("In call", std::string(trace.strings.at(table.call[row])));
            // Scheduler records are complete and exact.
            if (isScheduled)
                details.add("Known by", "the scheduler's switches");
            else
                details.add("On a core", formatDuration(table.cpuNs[row]));
            if (table.delayNs[row] > 0) details.add("Wanted a core", formatDuration(table.delayNs[row]));
        }
        if (table.holder[row] != noIndex) {
            const Thread& holder = trace.threads[table.holder[row]];
            details.add("GIL held by", holder.name.empty() ? fmt::format("TID {}", holder.tid)
                                                           : fmt::format("{} (TID {})", holder.name, holder.tid));
            details.addFrames("Which is at", {}, table.holderStack[row]);
        }
        details.addFrames("Line", "Stack", table.stack[row]);
    }
};

}  // namespace lanescope::kinds
