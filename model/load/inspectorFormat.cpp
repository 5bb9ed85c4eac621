// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspectorFormat.h"

#include "model/load/inspector/readInspectorTrace.h"
#include "model/load/jsonFormat.h"

namespace lanescope {

namespace {

/// By keys that nothing else has: of every record up to format 4.2 and of each batch since, and
/// those of an operation, with which a file begins whose first batch is cut off. A trace of events
/// may hold anything, these too.
Result<bool> isInspectorLog(TraceSource& source) {
    const std::string_view start = source.start();
    const auto has = [start](std::string_view key) {
        return start.find(key) != std::string_view::npos;
    };
    const bool isOfInspector = has("\"inspector_output_format_version\"") ||
                               (has("\"coll_perf\"") && has("\"coll_exec_time_us\"")) ||
                               (has("\"p2p_perf\"") && has("\"p2p_exec_time_us\""));
    if (!isOfInspector || source.startsLikeSqlite() || start.find('\0') != std::string_view::npos)
        return false;
    const Result<bool> isOther = chromeFormat.recognises(source);
    return isOther && !*isOther;
}

Result<void> readRecords(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readInspectorTrace([&source](std::span<char> bytes) { return source.read(bytes); },
                              builder, [&source] { return source.fractionRead(); }, progress,
                              mostJsonBytesOf(source));
}

}  // namespace

const TraceFormat inspectorFormat{"nccl-inspector",
                                  "a log of NCCL Inspector",
                                  {"-pid*.log", "-pid*.jsonl"},
                                  isInspectorLog,
                                  readRecords};

}  // namespace lanescope
