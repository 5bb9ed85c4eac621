// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/trace/kinds/OfTable.h"
#include "model/values/formatValue.h"

namespace lanescope::kinds {

struct Memset : GpuWork<EventKind::Memset, &Trace::memsets> {
    static constexpr std::string_view identifier = "memset";
    static constexpr std::string_view name = "Memset", plural = "memsets";

    struct Row {
        int64_t startNs = 0, endNs = 0, bytes = 0;
        uint32_t value = 0;
        MemoryKind memory = MemoryKind::Unknown;
        uint32_t stream = noIndex;
        uint32_t correlation = 0;
    };
    static void append(Trace& trace, const Row& row) {
        trace.memsets.value.push_back(row.value);
        trace.memsets.memory.push_back(row.memory);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return fmt::format("Memset {}", formatBytes(trace.memsets.bytes[row]));
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Memset; }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        details.add("Memset", fmt::format("to {}", trace.memsets.value[row]));
        details.addTimes();
        details.addBandwidth(trace.memsets.bytes[row]);
        details.add("Memory", std::string(lanescope::name(trace.memsets.memory[row])));
        details.addStream(trace.memsets.stream[row]);
        details.addLaunch();
    }
};

}  // namespace lanescope::kinds
