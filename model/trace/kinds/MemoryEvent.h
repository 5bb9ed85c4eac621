// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Memory.h"
#include "model/trace/kinds/RowsIn.h"

namespace lanescope::kinds {

// Recorded like events, but no events of the trace: `buildMemory` makes allocations and counters of
// them.

/// Memory that was allocated or freed.
struct MemoryEvent : RowsIn<&Trace::memoryEvents> {
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
        return row.gpu != noIndex && RowsIn::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        Table& to = table(trace);
        to.address.push_back(row.address);
        to.kind.push_back(row.kind);
        to.isFree.push_back(row.isFree ? 1 : 0);
        to.isPooled.push_back(row.isPooled ? 1 : 0);
    }
};

/// How large a memory pool was from a moment on.
struct MemoryPool : RowsIn<&Trace::memoryPools> {
    static constexpr EventKind kind = EventKind::None;
    static constexpr std::string_view plural = MemoryEvent::plural;

    struct Row {
        int64_t timeNs = 0, bytes = 0;
        uint64_t address = 0;
        uint32_t process = noIndex, gpu = noIndex;
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return row.gpu != noIndex && RowsIn::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        table(trace).address.push_back(row.address);
    }
};

}  // namespace lanescope::kinds
