// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/trace/processes.h"
#include "tests/support/runTest.h"

using namespace lanescope;

class tst_StartedBy : public QObject {
    Q_OBJECT

    static void add(TraceBuilder& builder, uint32_t pid, uint32_t parent, std::optional<int> rank, uint32_t host = 0) {
        const uint32_t index = builder.process(globalPid(pid, host));
        Process& process = builder.processes()[index];
        process.pid = pid;
        process.rank = rank;
        if (parent != 0) process.facts.edit().parentPid = parent;
    }

  private slots:
    void workersHaveTheRankOfTheirParent() {
        TraceBuilder builder;
        add(builder, 10, 1, 0);
        add(builder, 11, 1, 1);
        add(builder, 20, 11, {});     // a worker of rank 1
        add(builder, 30, 20, {});     // and a worker started by it
        add(builder, 40, 99, {});     // of an unrecorded process
        add(builder, 50, 11, {}, 3);  // of another machine
        add(builder, 60, 61, {});     // any file content is possible
        add(builder, 61, 60, {});
        const Trace& trace = builder.trace();
        const auto ranks = ranksServed(trace);
        QCOMPARE(ranks[0], std::optional(0));
        QCOMPARE(ranks[2], std::optional(1));
        QCOMPARE(ranks[3], std::optional(1));
        for (const size_t none : {4, 5, 6, 7}) QVERIFY(!ranks[none]);
        QCOMPARE(parentProcesses(trace)[2], 1u);
        QCOMPARE(parentProcesses(trace)[0], noIndex);
    }
};

LANESCOPE_TEST(tst_StartedBy, NoApplication)
#include "tst_StartedBy.moc"
