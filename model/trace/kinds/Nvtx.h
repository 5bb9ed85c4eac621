// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/text/formatValue.h"
#include "model/trace/kinds/OfTable.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope::kinds {

struct Nvtx : TableKind<EventKind::Nvtx, &Trace::nvtx> {
    static constexpr std::string_view identifier = "nvtx";
    static constexpr std::string_view name = "NVTX range", plural = "NVTX events";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        StringIndex text = 0;
        StringIndex domain = 0;  ///< 0 is the default domain.
        StringIndex category = 0;
        uint32_t colorArgb = 0;  ///< 0 if the program set none.
        uint32_t thread = noIndex;
        NvtxStyle style = NvtxStyle::PushPop;
        bool isOpen = false;  ///< It never ended; `endNs` is ignored.
        StringIndex payload = 0;
        uint32_t stack = noIndex;  ///< From `TraceBuilder::stack`; `noIndex` if none.
    };
    static TimeRange timesOf(const Row& row) { return {row.startNs, row.isOpen ? row.startNs : row.endNs}; }
    static void append(Trace& trace, const Row& row) {
        NvtxTable& table = trace.nvtx;
        table.text.push_back(row.text);
        table.domain.push_back(row.domain);
        table.category.push_back(row.category);
        table.colorArgb.push_back(row.colorArgb);
        table.depth.push_back(0);  // Computed by `finishTrace`.
        table.style.push_back(row.style);
        table.isOpen.push_back(row.isOpen ? 1 : 0);
        table.payload.push_back(row.payload);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return std::string(trace.strings.at(trace.nvtx.text[row]));
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return ncclCallOfRange(trace, row) != noIndex ? SliceCategory::NcclCall : SliceCategory::Nvtx;
    }

    static constexpr std::array tracks{TrackKind::ThreadNvtx};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::ThreadNvtx, trace.nvtx.thread[row]};
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const bool isMark = trace.nvtx.style[row] == NvtxStyle::Mark;
        details.add(isMark ? "NVTX mark" : "NVTX range", nameOf(trace, row));
        details.addTimes();
        if (trace.nvtx.isOpen[row] != 0) details.add("State", "never closed by the program");
        const uint32_t thread = trace.nvtx.thread[row];
        const std::string launched = launchesText(trace, thread, launchesDuring(trace, thread, rangeOf(trace, row)));
        if (!launched.empty()) details.add("Launched for the GPU", launched);
        details.addRange(row);
        details.addThread(trace.nvtx.thread[row]);
    }
};

struct Projection : TableKind<EventKind::Projection, &Trace::projections> {
    static constexpr Origin origin = Origin::Derived;
    static constexpr std::string_view identifier = "nvtx_projection";
    static constexpr std::string_view name = "NVTX range on the GPU", plural = "NVTX ranges on the GPU";

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return Nvtx::nameOf(trace, trace.projections.nvtx[row]);
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return ncclCallOfRange(trace, trace.projections.nvtx[row]) != noIndex ? SliceCategory::NcclCall
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
        const std::string launched = launchesText(trace, thread, launchesDuring(trace, thread, onCpu, stream));
        details.add("Launched on this stream",
                    launched.empty()
                        ? fmt::format("{} by this thread", formatCount(trace.projections.operationCount[row]))
                        : launched);
        details.add("Duration on the CPU", formatDuration(onCpu.durationNs()));
        details.add("Delay after the CPU", formatDuration(onGpu.startNs - onCpu.startNs));
        details.addRange(nvtx);
        details.addStream(stream);
    }
};

}  // namespace lanescope::kinds
