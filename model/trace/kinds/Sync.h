// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

/// On no track: the API call that waits is drawn already.
struct Sync : OfTable<EventKind::Sync, &Trace::syncs> {
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
        switch (trace.syncs.type[row]) {
            case SyncType::Event:
                return "Wait for event";
            case SyncType::StreamWaitEvent:
                return "Stream waits for event";
            case SyncType::Stream:
                return "Wait for stream";
            case SyncType::Context:
                return "Wait for context";
            case SyncType::Unknown:
                break;
        }
        return "Wait";
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
