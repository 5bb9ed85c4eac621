// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/collector/TraceWriter.h"
#include "capture/log/LogReader.h"
#include "capture/log/Records.h"
#include "model/format/GlobalId.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"

namespace lanescope::capture {

/// The strings of one log by their number in it. Only those an event uses get into the trace.
class LogStrings {
  public:
    explicit LogStrings(TraceWriter& trace) : trace_(trace) {}

    /// The ids in the trace of the three names of a kernel.
    struct KernelNames {
        int64_t mangled, demangled, brief;
    };

    void add(uint32_t id, std::string_view text) { strings_[id] = {std::string(text), 0}; }
    /// The text; empty for 0 and for one that was lost. Valid until the next `add`.
    std::string_view text(uint32_t id) const;
    /// Its id in the trace; a lost text becomes "[name lost]".
    int64_t traceId(uint32_t id);
    KernelNames kernelNames(uint32_t id);

  private:
    struct Entry {
        std::string text;
        int64_t traceId = 0;
    };

    TraceWriter& trace_;
    std::unordered_map<uint32_t, Entry> strings_;
    std::unordered_map<uint32_t, KernelNames> kernels_;
};

/// The Python stacks of one log by their number in it.
class LogStacks {
  public:
    explicit LogStacks(TraceWriter& trace) : trace_(trace) {}

    /// Takes a stack, whose names are among `strings`. A log may say it again.
    void add(const log::StackRecord& record, LogStrings& strings);
    /// Its id in `LANESCOPE_STACKS`; nothing for 0 and for one that was lost.
    std::optional<int64_t> traceId(uint32_t stack) const;

  private:
    TraceWriter& trace_;
    std::unordered_map<uint32_t, int64_t> ids_;
};

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

class TraceWriter;

/// Notes in the health of the trace what of a log could not be read: `problem`, bytes at its end,
/// blocks inside, and records that make no sense. `process` is whose log it is, if that is known.
/// To be called when the log was read to its end.
void writeLogTrouble(const log::LogReader& reader, const std::optional<Error>& problem,
                     TraceWriter& trace, std::optional<int64_t> process);

}  // namespace lanescope::capture
