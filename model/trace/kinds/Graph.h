// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

struct Graph : GpuWork<EventKind::Graph, &Trace::graphs> {
    static constexpr std::string_view identifier = "cuda_graph";
    static constexpr std::string_view name = "CUDA graph", plural = "CUDA graph launches";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        int64_t graph = 0;  ///< Number of the graph within its process.
        uint32_t stream = noIndex;
        uint32_t correlation = 0;
    };
    static void append(Trace& trace, const Row& row) { trace.graphs.graph.push_back(row.graph); }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return fmt::format("CUDA graph {}", trace.graphs.graph[row]);
    }
    static uint64_t nameKey(const Trace& trace, uint32_t row) { return static_cast<uint64_t>(trace.graphs.graph[row]); }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Graph; }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        details.add("CUDA graph", fmt::format("{}", trace.graphs.graph[row]));
        details.addTimes();
        details.add("Recorded", "as a whole, without its kernels");
        details.addStream(trace.graphs.stream[row]);
        details.addLaunch();
    }
};

/// Node of a CUDA graph. Recorded like an event, but no event of the trace: it is the source of the
/// kernels that it launches.
struct GraphNode : RecordedRows<&Trace::graphNodes> {
    static constexpr EventKind kind = EventKind::None;
    static constexpr std::string_view plural = "CUDA graph nodes";

    struct Row {
        int64_t timeNs = 0;
        uint32_t thread = noIndex;
        uint64_t node = 0, original = 0;  ///< `original` is 0 if the node is no copy.
        uint32_t stack = noIndex;         ///< From `TraceBuilder::stack`; `noIndex` if none.
    };
    static void append(Trace& trace, const Row& row) {
        Table& to = table(trace);
        to.node.push_back(row.node);
        to.original.push_back(row.original);
    }
};

}  // namespace lanescope::kinds
