// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
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

/// The strings of one log by their number in it. Only strings that an event uses get into the trace.
class LogStrings {
  public:
    explicit LogStrings(TraceWriter& trace) : trace_(trace) {}

    /// Ids in the trace of the three names of a kernel.
    struct KernelNames {
        int64_t mangled, demangled, brief;
    };

    void add(uint32_t id, std::string_view text) { strings_[id] = {std::string(text), 0}; }
    /// Returns the text; empty for 0 and for a lost one. Valid until the next `add`.
    std::string_view text(uint32_t id) const;
    /// Returns its id in the trace; a lost text becomes "[name lost]".
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

class LogStacks {
  public:
    explicit LogStacks(TraceWriter& trace) : trace_(trace) {}

    /// Adds a stack, whose names are among `strings`. A log may repeat it.
    void add(const log::StackRecord& record, LogStrings& strings);
    /// Returns its id in `LANESCOPE_STACKS`; nullopt for 0 and for a lost one.
    std::optional<int64_t> traceId(uint32_t stack) const;

  private:
    TraceWriter& trace_;
    std::unordered_map<uint32_t, int64_t> ids_;
};

/// Shared state of the importers of one log.
struct ProcessContext {
    TraceWriter& trace;
    LogStrings strings;
    LogStacks stacks;
    int64_t sessionStartNs;  ///< Time of the log that is 0 in the trace.
    uint32_t host;           ///< Number of the host in global ids.
    uint32_t pid = 0;
    std::set<uint32_t> threads{};  ///< Threads with written rows.
    uint32_t lastThread = 0;       ///< The latest of them.
    std::map<std::string, std::string, std::less<>> properties{};

    void add(const log::PropertyRecord& record) {
        properties.insert_or_assign(std::string(strings.text(record.name)), std::string(strings.text(record.value)));
    }
    void add(const log::StackRecord& record) { stacks.add(record, strings); }
    int64_t processId() const { return globalPid(pid, host); }
    /// Returns the id of a thread and notes that it has rows.
    int64_t threadId(uint32_t tid) {
        if (tid != lastThread) threads.insert(lastThread = tid);
        return globalTid(pid, tid, host);
    }
    /// Converts a time of the log to the trace's axis; wraps and does not overflow for invalid times.
    int64_t time(int64_t realtimeNs) const {
        return static_cast<int64_t>(static_cast<uint64_t>(realtimeNs) - static_cast<uint64_t>(sessionStartNs));
    }
    /// Converts a time and clamps it to the range of a trace, so that the difference of two fits.
    int64_t boundedTime(int64_t realtimeNs) const {
        return std::clamp(time(realtimeNs), -maxTimestampNs, maxTimestampNs);
    }
};

/// Passes a record to each of the importers that has an `add` for it.
void addWhereAccepted(const auto& record, auto&... importers) {
    const auto offer = [&](auto& importer) {
        if constexpr (requires { importer.add(record); }) importer.add(record);
    };
    (offer(importers), ...);
}

/// Reports in the health of the trace the unreadable parts of a log: `problem`, bytes at its end, blocks inside, and
/// invalid records. `process` is the log's process, if known. Call it when the log was read to its end.
void reportLogCorruption(const log::LogReader& reader, const std::optional<Error>& problem, TraceWriter& trace,
                         std::optional<int64_t> process);

}  // namespace lanescope::capture
