// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "model/load/loadTrace.h"
#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

namespace {

/// A log with what a program says of its stacks.
struct StackLog : TestLog {
    using TestLog::TestLog;

    void stack(uint32_t number, uint32_t parent, std::string_view function, std::string_view file,
               uint32_t line) {
        StackRecord record{};
        record.stack = number;
        record.parent = parent;
        record.function = string(function);
        record.file = string(file);
        record.line = line;
        add(RecordKind::Stack, record);
    }
    void call(uint32_t correlation, uint32_t stackNumber) {
        ApiRecord record{};
        record.startNs = startNs + correlation * 100;
        record.endNs = record.startNs + 10;
        record.name = string("cuLaunchKernel");
        record.threadId = 4242;
        record.correlationId = correlation;
        record.isDriver = 1;
        record.stack = stackNumber;
        add(RecordKind::Api, record);
    }
};

}  // namespace

/// Python stacks, from the log into the trace.
class tst_CollectStacks : public QObject {
    Q_OBJECT
    std::unique_ptr<CollectorFixture> fixture_;

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void writesEachStackOnce() {
        StackLog log;
        log.stack(1, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(1, 2);
        // Another thread has numbers of its own for the same.
        log.stack(7, 0, "<module>", "/home/ada/train.py", 30);
        log.stack(8, 7, "step", "/home/ada/train.py", 12);
        log.stack(9, 8, "(frames further out are left out)", "", 0);
        log.call(2, 8);
        log.call(3, 9);
        log.call(4, 0);
        log.call(5, 99);  // of a stack that was lost
        // Another part says it again.
        log.stack(2, 1, "step", "/home/ada/train.py", 12);
        log.call(6, 2);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        QCOMPARE(
            fixture_->rows("SELECT s.id, parentId, f.value, g.value, line FROM LANESCOPE_STACKS s"
                           " JOIN StringIds f ON f.id = functionId"
                           " LEFT JOIN StringIds g ON g.id = fileId ORDER BY s.id"),
            "1|NULL|<module>|/home/ada/train.py|30, 2|1|step|/home/ada/train.py|12, "
            "3|2|(frames further out are left out)|NULL|NULL");
        QCOMPARE(fixture_->rows("SELECT correlationId, callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME"
                                " ORDER BY correlationId"),
                 "1|2, 2|2, 3|3, 4|NULL, 5|NULL, 6|2");

        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        QCOMPARE((*trace)->stacks.size(), 3u);
        QCOMPARE((*trace)->apiCalls.size(), 6u);
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 0)),
                 std::string("train.py:12 in step"));
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 2)),
                 std::string("train.py:12 in step"));
        QCOMPARE(frameText(**trace, 2), std::string("(frames further out are left out)"));
        QCOMPARE(pythonLine(**trace, EventRef(EventKind::Api, 3)), std::string());
    }

    void survivesStacksThatLeadNowhere() {
        StackLog log;
        log.stack(5, 5, "itself", "a.py", 1);
        log.stack(6, 77, "orphan", "a.py", 2);
        log.stack(0, 0, "none", "a.py", 3);
        log.stack(0xffffffff, 6, "last", "a.py", 0xffffffff);
        for (uint32_t number : {5u, 6u, 0u, 0xffffffffu}) log.call(number % 1'000 + 1, number);
        log.end(startNs + 1'000);
        log.flush();
        log.writeTo(fixture_->logPath("box.0.4242.log"));
        fixture_->collect();
        const Result<TracePtr> trace = loadTrace(fixture_->in("out.sqlite"));
        QVERIFY(trace);
        for (uint32_t row = 0; row < (*trace)->apiCalls.size(); ++row)
            pythonLine(**trace, EventRef(EventKind::Api, row));
    }
};

LANESCOPE_TEST(tst_CollectStacks, NoApplication)
#include "tst_CollectStacks.moc"
