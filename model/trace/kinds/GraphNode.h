// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/kinds/RowsIn.h"

namespace lanescope::kinds {

/// A node of a CUDA graph. Recorded like an event, but no event of the trace: it says where the
/// kernels come from that it launches.
struct GraphNode : RowsIn<&Trace::graphNodes> {
    static constexpr EventKind kind = EventKind::None;
    static constexpr std::string_view plural = "CUDA graph nodes";

    struct Row {
        int64_t timeNs = 0;
        uint32_t thread = noIndex;
        uint64_t node = 0, original = 0;  ///< `original` 0: it is no copy.
        uint32_t stack = noIndex;  ///< As `TraceBuilder::stack` gave it out; `noIndex` without one.
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return (row.stack == noIndex || row.stack < trace.stacks.size()) &&
               RowsIn::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        Table& to = table(trace);
        to.node.push_back(row.node);
        to.original.push_back(row.original);
        to.stack.push_back(row.stack);
        to.isStackLent.push_back(0);
    }
};

}  // namespace lanescope::kinds
