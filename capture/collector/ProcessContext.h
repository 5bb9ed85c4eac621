// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "capture/collector/LogStacks.h"
#include "capture/collector/LogStrings.h"
#include "capture/collector/TraceWriter.h"
#include "model/format/GlobalId.h"
#include "model/format/TimeRange.h"

namespace lanescope::capture {

/// What all that comes of one log shares.
struct ProcessContext {
    TraceWriter& trace;
    LogStrings strings;
    LogStacks stacks;
    int64_t sessionStartNs;  ///< Of the log's times, that which is 0 in the trace.
    uint32_t host;           ///< Number of the host in global ids.
    uint32_t pid = 0;
    std::set<uint32_t> threads{};  ///< Those that something was written of.
    uint32_t lastThread = 0;       ///< The latest of them.

    void add(const log::StackRecord& record) { stacks.add(record, strings); }
    int64_t processId() const { return globalPid(pid, host); }
    /// The id of a thread that something is written of.
    int64_t threadId(uint32_t tid) {
        if (tid != lastThread) threads.insert(lastThread = tid);
        return globalTid(pid, tid, host);
    }
    /// Moves a time of the log to the trace's axis; wraps rather than overflows on nonsense.
    int64_t time(int64_t realtimeNs) const {
        return static_cast<int64_t>(static_cast<uint64_t>(realtimeNs) -
                                    static_cast<uint64_t>(sessionStartNs));
    }
    /// The same, within the times that a trace may have: differences of two stay in range.
    int64_t boundedTime(int64_t realtimeNs) const {
        return std::clamp(time(realtimeNs), -greatestTimeNs, greatestTimeNs);
    }
};

}  // namespace lanescope::capture
