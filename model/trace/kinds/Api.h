// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "model/text/formatValue.h"
#include "model/trace/Track.h"
#include "model/trace/gpuNames.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

struct Api : TableKind<EventKind::Api, &Trace::apiCalls> {
    static constexpr std::string_view identifier = "cuda_api";
    static constexpr std::string_view name = "CUDA API call", plural = "CUDA API calls";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        StringIndex name = 0;
        uint32_t thread = noIndex;
        uint32_t correlation = 0;
        int32_t returnValue = 0;
        bool isDriver = false;     ///< True for a driver call, false for a runtime call.
        uint32_t stack = noIndex;  ///< From `TraceBuilder::stack`; `noIndex` if none.
    };
    static void append(Trace& trace, const Row& row) {
        ApiTable& table = trace.apiCalls;
        table.name.push_back(row.name);
        table.returnValue.push_back(row.returnValue);
        table.isDriver.push_back(row.isDriver ? 1 : 0);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return std::string(trace.strings.at(trace.apiCalls.name[row]));
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return apiCategory(trace.strings.at(trace.apiCalls.name[row]));
    }

    static constexpr std::array tracks{TrackKind::ThreadApi};
    static TrackSubject trackOf(const Trace& trace, uint32_t row) {
        return {TrackKind::ThreadApi, trace.apiCalls.thread[row]};
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const ApiTable& table = trace.apiCalls;
        details.add(
            fmt::format("{} {} call", lanescope::name(trace.gpuApi), table.isDriver[row] != 0 ? "driver" : "runtime"),
            nameOf(trace, row));
        details.addTimes();
        details.addThread(table.thread[row]);
        if (table.returnValue[row] != 0) details.add("Returned", fmt::format("error {}", table.returnValue[row]));
        details.addStack(table.stack[row], table.isStackLent[row] != 0);
        const std::vector<EventRef> work = trace.launchedWork(EventRef(kind, row));
        if (work.empty()) return;
        details.add("Launched", trace.nameOf(work.front()));
        if (work.size() > 1) details.add("Operations", formatCount(static_cast<int64_t>(work.size())));
    }
};

/// On no track: the waiting API call is drawn already.
struct Sync : TableKind<EventKind::Sync, &Trace::syncs> {
    static constexpr std::string_view identifier = "synchronization";
    static constexpr std::string_view name = "Synchronization", plural = "synchronizations";

    struct Row {
        int64_t startNs = 0, endNs = 0;
        SyncType type = SyncType::Unknown;
        uint32_t stream = noIndex;  ///< `noIndex` for a whole context.
        uint32_t process = noIndex;
        uint32_t correlation = 0;
    };
    static void append(Trace& trace, const Row& row) { trace.syncs.type.push_back(row.type); }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return std::string(enumText(trace.syncs.type[row], {"Wait", "Wait for event", "Stream waits for event",
                                                            "Wait for stream", "Wait for context"}));
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::ApiSync; }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        details.add("Wait", nameOf(trace, row));
        details.addTimes();
        if (trace.syncs.stream[row] != noIndex)
            details.addStream(trace.syncs.stream[row]);
        else
            details.addProcess(trace.syncs.process[row]);
    }
};

}  // namespace lanescope::kinds
