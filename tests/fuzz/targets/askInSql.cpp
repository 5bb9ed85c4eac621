// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/query/TraceQuery.h"
#include "model/query/queryMessages.h"
#include "model/text/formatTable.h"
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

/// Reads a message of a possibly compromised query process. A valid message must be rewritten
/// unchanged.
void readMessage(uint8_t kind, std::string_view body) {
    switch (kind) {
        case 0:
            if (const auto answer = answerIn(body)) {
                const std::string written = bodyOf(*answer);
                const auto again = answerIn(written);
                require(again && bodyOf(*again) == written, "An answer changes on its way.");
                (void)formatTable(answer->result.table, TableFormat::Json);
            }
            return;
        case 1:
            if (const auto tables = tablesIn(body))
                require(tablesIn(bodyOf(*tables)).has_value(), "Tables are lost on their way.");
            return;
        case 2:
            if (const auto request = requestIn(body))
                require(requestIn(bodyOf(*request))->sql == request->sql, "A query is changed.");
            return;
        default:
            (void)errorIn(body);
    }
}

/// Runs fixed queries on the trace's tables.
void askForTables(const TraceQuery& query) {
    const auto tables = query.tables();
    require(tables && !tables->empty(), "A trace without tables.");
    require(tablesIn(bodyOf(*tables))->size() == tables->size(), "Tables are lost on their way.");
}

}  // namespace

/// Runs a user query: harmful statements are refused, and nothing is written. After a byte of 1 to
/// 4, the input is a message between the query process and its client instead.
void askInSql(Bytes bytes) {
    constexpr uint8_t kinds = 4;
    if (!bytes.empty() && bytes[0] >= 1 && bytes[0] <= kinds)
        return readMessage(static_cast<uint8_t>(bytes[0] - 1), textOf(bytes.subspan(1)));
    static const Scratch scratch;
    static const auto path = traceIn(scratch);
    static const auto written = std::filesystem::last_write_time(path);
    static const auto query = TraceQuery::open(path);
    require(query.has_value(), "The trace cannot be opened.");
    if (bytes.empty()) return askForTables(*query);
    QueryLimits limits;
    limits.time = std::chrono::milliseconds(20);
    limits.rows = 100;
    limits.resultBytes = 1 << 16;
    limits.workingBytes = 32 << 20;
    const auto answer = query->run(textOf(bytes), limits);
    if (!answer) {
        require(!sentenceOf(answer.error(), textOf(bytes)).empty(), "It failed without a word.");
        require(errorIn(bodyOf(answer.error())).offset == answer.error().offset,
                "A place is lost on its way.");
    } else {
        const auto received = answerIn(bodyOf(QueryAnswer{*answer, {}}));
        require(received && formatTable(received->result.table, TableFormat::Json) ==
                                formatTable(answer->table, TableFormat::Json),
                "An answer changes on its way.");
    }
    require(std::filesystem::last_write_time(path) == written, "The trace was written to.");
}

}  // namespace lanescope::fuzz
