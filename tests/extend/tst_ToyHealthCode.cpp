// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/trace/healthNotes.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

/// A health code that only another version of the product has: its note is shown, indexed and exported.
class tst_ToyHealthCode : public QObject {
    Q_OBJECT

    static void checkToy(const Trace& trace) {
        const auto note = std::ranges::find(trace.health, HealthCode::Unknown, &HealthNote::code);
        QVERIFY(note != trace.health.end());
        QCOMPARE(note->severity, Severity::Warning);
        QCOMPARE(codeOf(*note), std::string("toys-broken"));
        QCOMPARE(shownText(*note), std::string("2 toys broke. (unknown code \"toys-broken\")"));
        QCOMPARE(note->count, std::optional<int64_t>(2));
    }

  private slots:
    void noteOfAnUnknownCodeIsShownIndexedAndExported() {
        const TemporaryFolder folder;
        const std::filesystem::path file = folder / "toys.sqlite", copy = folder / "copy.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), file).has_value());
        test::orFail(test::orFail(openForWriting(file))
                         .execute("INSERT INTO LANESCOPE_HEALTH (severity, code, sentence, count) VALUES (1, "
                                  "'toys-broken', '2 toys broke.', 2)"));
        for (int opening = 0; opening < 2; ++opening) checkToy(*test::orFail(openTrace(file, {0, true})));
        QVERIFY(writeTraceFile(*test::orFail(loadTrace(file)), copy).has_value());
        checkToy(*test::orFail(loadTrace(copy)));
    }
};

LANESCOPE_TEST(tst_ToyHealthCode, NoApplication)
#include "tst_ToyHealthCode.moc"
