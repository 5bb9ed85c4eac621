// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

struct Graph : GpuWork<EventKind::Graph, &Trace::graphs> {
    static constexpr std::string_view identifier = "cuda_graph";
    static constexpr std::string_view name = "CUDA graph", plural = "CUDA graph launches";

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return fmt::format("CUDA graph {}", trace.graphs.graph[row]);
    }
    static uint64_t nameKey(const Trace& trace, uint32_t row) {
        return static_cast<uint64_t>(trace.graphs.graph[row]);
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Graph; }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        details.add("CUDA graph", fmt::format("{}", trace.graphs.graph[row]));
        details.addTimes();
        details.add("Recorded", "as a whole, without the kernels in it");
        details.addStream(trace.graphs.stream[row]);
        details.addLaunch();
    }
};

}  // namespace lanescope::kinds
