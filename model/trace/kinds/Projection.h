// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/trace/kinds/Nvtx.h"
#include "model/trace/kinds/launchesDuring.h"
#include "model/values/formatValue.h"

namespace lanescope::kinds {

struct Projection : OfTable<EventKind::Projection, &Trace::projections> {
    static constexpr Origin origin = Origin::Derived;
    static constexpr std::string_view identifier = "nvtx_projection";
    static constexpr std::string_view name = "NVTX range on the GPU",
                                      plural = "NVTX ranges on the GPU";

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return Nvtx::nameOf(trace, trace.projections.nvtx[row]);
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return ncclCallOfRange(trace, trace.projections.nvtx[row]) != noIndex
                   ? SliceCategory::NcclCall
                   : SliceCategory::Projection;
    }

    static constexpr std::array tracks{TrackKind::StreamProjection};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::StreamProjection, trace.projections.stream[row]};
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const uint32_t nvtx = trace.projections.nvtx[row];
        const TimeRange onGpu = rangeOf(trace, row), onCpu = Nvtx::rangeOf(trace, nvtx);
        details.add("NVTX range", nameOf(trace, row));
        details.addTimes();
        const uint32_t stream = trace.projections.stream[row];
        const uint32_t thread = trace.nvtx.thread[nvtx];
        const std::string launched =
            launchesText(trace, thread, launchesDuring(trace, thread, onCpu, stream));
        details.add("Launched on this stream",
                    launched.empty()
                        ? fmt::format("{} by this thread",
                                      formatCount(trace.projections.operationCount[row]))
                        : launched);
        details.add("Duration on the CPU", formatDuration(onCpu.durationNs()));
        details.add("Behind the CPU", formatDuration(onGpu.startNs - onCpu.startNs));
        details.addRange(nvtx);
        details.addStream(stream);
    }
};

}  // namespace lanescope::kinds
