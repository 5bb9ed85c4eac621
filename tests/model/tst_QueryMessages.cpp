// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "model/query/queryMessages.h"
#include "model/text/formatTable.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

QueryAnswer someAnswer() {
    QueryAnswer answer;
    answer.result.isCut = true;
    answer.result.took = std::chrono::milliseconds(17);
    answer.doubt = "It was changed.";
    answer.result.table = {.name = "sql",
                           .title = "SQL",
                           .columns = {{"name", Unit::Text}, {"start", Unit::Timestamp}},
                           .rows = {{std::string("kernel"), int64_t{-5}}, {Cell{}, 2.5}}};
    return answer;
}

}  // namespace

class tst_QueryMessages : public QObject {
    Q_OBJECT

  private slots:
    void queryMessagesRoundTrip() {
        const auto answer = answerIn(bodyOf(someAnswer()));
        QVERIFY(answer);
        QVERIFY(answer->result.isCut);
        QCOMPARE(answer->result.took.count(), 17);
        QCOMPARE(answer->doubt, "It was changed.");
        QCOMPARE(formatTable(answer->result.table, TableFormat::Json),
                 formatTable(someAnswer().result.table, TableFormat::Json));

        const auto tables =
            tablesIn(bodyOf(std::vector<QueryTable>{{"one", {{"a", "TEXT"}}}, {"two", {}}}));
        QVERIFY(tables);
        QCOMPARE(tables->size(), size_t{2});
        QCOMPARE(tables->front().columns.front().type, "TEXT");

        QueryLimits limits;
        limits.time = std::chrono::milliseconds(9);
        limits.rows = 8;
        limits.resultBytes = 7;
        limits.workingBytes = 6;
        const auto request = requestIn(bodyOf(QueryRequest{"SELECT 1", limits}));
        QVERIFY(request);
        QCOMPARE(request->sql, "SELECT 1");
        QCOMPARE(request->limits.time.count(), 9);
        QCOMPARE(request->limits.rows, 8);
        QCOMPARE(request->limits.resultBytes, 7);
        QCOMPARE(request->limits.workingBytes, 6);

        const QueryError error = errorIn(bodyOf(QueryError{"No such table.", 7}));
        QCOMPARE(error.sentence, "No such table.");
        QCOMPARE(error.offset.value(), size_t{7});
        QVERIFY(!errorIn(bodyOf(QueryError{"No.", std::nullopt})).offset);
    }

    void missingAnswerIsReportedAsOutOfMemory() {
        QVERIFY(errorIn({}).sentence.find("memory") != std::string::npos);
    }

    void incompleteMessagesAreRefused() {
        const std::string answer = bodyOf(someAnswer());
        for (size_t bytes = 0; bytes < answer.size(); ++bytes)
            QVERIFY2(!answerIn(answer.substr(0, bytes)), std::to_string(bytes).c_str());
        const std::string request = bodyOf(QueryRequest{"SELECT 1", {}});
        for (size_t bytes = 0; bytes < request.size(); ++bytes)
            QVERIFY2(!requestIn(request.substr(0, bytes)), std::to_string(bytes).c_str());
    }

    void countsAreNotTrusted() {
        // 2^62 tables, in eight bytes.
        const std::string many("\0\0\0\0\0\0\0\x40", 8);
        QVERIFY(!tablesIn(many));
        QVERIFY(!answerIn(std::string(40, '\0') + many));
    }
};

LANESCOPE_TEST(tst_QueryMessages, NoApplication)
#include "tst_QueryMessages.moc"
