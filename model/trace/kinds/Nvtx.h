// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/kinds/OfTable.h"
#include "model/trace/ncclDetails.h"

namespace lanescope::kinds {

struct Nvtx : OfTable<EventKind::Nvtx, &Trace::nvtx> {
    static constexpr std::string_view identifier = "nvtx";
    static constexpr std::string_view name = "NVTX range", plural = "NVTX events";

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return std::string(trace.strings.at(trace.nvtx.text[row]));
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return ncclCallOfRange(trace, row) != noIndex ? SliceCategory::NcclCall
                                                      : SliceCategory::Nvtx;
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
        details.addRange(row);
        details.addThread(trace.nvtx.thread[row]);
    }
};

}  // namespace lanescope::kinds
