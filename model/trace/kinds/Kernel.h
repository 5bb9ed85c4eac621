// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>

#include "model/text/formatValue.h"
#include "model/trace/Track.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/OfTable.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::kinds {

struct Kernel : GpuWork<EventKind::Kernel, &Trace::kernels> {
    static constexpr std::string_view identifier = "kernel";
    static constexpr std::string_view name = "Kernel", plural = "kernels";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        uint32_t stream = noIndex;
        uint32_t correlation = 0;   ///< Joins it with its call within one process; 0 = none.
        uint64_t graphNode = 0;     ///< 0 outside a CUDA graph.
        uint32_t config = noIndex;  ///< From `TraceBuilder::launchConfig`.
    };
    static bool isPlaced(const Trace& trace, const Row& row) {
        return row.config < trace.launchConfigs.size() && GpuWork::isPlaced(trace, row);
    }
    static void append(Trace& trace, const Row& row) {
        trace.kernels.config.push_back(row.config);
        trace.kernels.graphNode.push_back(row.graphNode);
    }

    /// The short name, if it has one.
    static StringIndex nameIndex(const LaunchConfig& config) {
        return config.shortName != 0 ? config.shortName : config.demangledName;
    }
    static std::string nameOf(const Trace& trace, uint32_t row) {
        const uint32_t config = trace.kernels.config[row];
        const StringIndex name = trace.launchConfigs.shortName(config);
        return std::string(trace.strings.at(name != 0 ? name : trace.launchConfigs.demangledName(config)));
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return trace.launchConfigs.isCollective(trace.kernels.config[row]) ? SliceCategory::NcclKernel
                                                                           : SliceCategory::Kernel;
    }
    static SliceCategory categoryOf(const LaunchConfig& config) {
        return config.isCollective() ? SliceCategory::NcclKernel : SliceCategory::Kernel;
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const LaunchConfig config = configOf(trace, row);
        details.add("Kernel", std::string(trace.strings.at(config.shortName)));
        details.addTimes();
        details.add("Grid", dimensions(config.grid));
        details.add("Block", dimensions(config.block));
        details.add("Registers per thread", fmt::format("{}", config.registersPerThread));
        details.add("Static shared memory", formatBytes(config.staticSharedBytes));
        details.add("Dynamic shared memory", formatBytes(config.dynamicSharedBytes));
        details.addStream(trace.kernels.stream[row]);
        details.addLaunch();
        details.addNcclCall(ncclCallOfWork(trace, EventRef(kind, row)));
        if (trace.kernels.graphNode[row] != 0)
            details.add("CUDA graph node", fmt::format("{}", trace.kernels.graphNode[row]));
        const std::string_view inSource = sourceName(trace, config);
        if (inSource != trace.strings.at(config.shortName)) details.add("Name in the source", std::string(inSource));
        details.add("Full name", std::string(trace.strings.at(config.demangledName)));
    }

  private:
    static LaunchConfig configOf(const Trace& trace, uint32_t row) {
        return trace.launchConfigs[trace.kernels.config[row]];
    }
    static std::string dimensions(const std::array<uint32_t, 3>& size) {
        return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
    }
};

}  // namespace lanescope::kinds
