// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/query/TraceQuery.h"
#include "model/values/formatTable.h"
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

}  // namespace

/// A query that somebody typed: what is not harmless is refused, and nothing is written.
void askInSql(Bytes bytes) {
    static const Scratch scratch;
    static const auto path = traceIn(scratch);
    static const auto written = std::filesystem::last_write_time(path);
    static const auto query = TraceQuery::open(path);
    require(query.has_value(), "The trace cannot be opened.");
    QueryLimits limits;
    limits.time = std::chrono::milliseconds(100);
    limits.rows = 100;
    limits.resultBytes = 1 << 20;
    limits.workingBytes = 32 << 20;
    const auto answer = query->run(textOf(bytes), limits);
    if (answer) (void)formatTable(answer->table, TableFormat::Json);
    require(answer.has_value() || !answer.error().sentence.empty(), "It failed without a word.");
    require(std::filesystem::last_write_time(path) == written, "The trace was written to.");
}

}  // namespace lanescope::fuzz
