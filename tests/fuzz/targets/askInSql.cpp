// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/query/TraceQuery.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/simulatedTraining.h"

namespace lanescope::fuzz {

namespace {

std::filesystem::path traceIn(const Scratch& scratch) {
    const auto path = scratch / "run.sqlite";
    require(writeTraceFile(*simulatedTraining({.steps = 2, .layers = 2}), path).has_value(),
            "There is no room for a trace.");
    return path;
}

/// Runs fixed queries on the trace's tables.
void askForTables(const TraceQuery& query) {
    const auto tables = query.tables();
    require(tables && !tables->empty(), "A trace without tables.");
}

}  // namespace

/// A query of the user: whatever is not harmless is refused, and nothing is written.
void askInSql(Bytes bytes) {
    static const Scratch scratch;
    static const auto path = traceIn(scratch);
    static const auto written = std::filesystem::last_write_time(path);
    static const auto query = TraceQuery::open(path);
    require(query.has_value(), "The trace cannot be opened.");
    if (bytes.empty()) return askForTables(*query);
    QueryLimits limits{
        .time = std::chrono::milliseconds(20), .rows = 100, .resultBytes = 1 << 16, .workingBytes = 32 << 20};
    const auto answer = query->run(textOf(bytes), limits);
    require(answer || !sentenceOf(answer.error(), textOf(bytes)).empty(), "It failed without a word.");
    require(std::filesystem::last_write_time(path) == written, "The trace was written to.");
}

}  // namespace lanescope::fuzz
