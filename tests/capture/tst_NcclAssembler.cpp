// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NcclPluginImporter.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using log::NcclEvent;

namespace {

log::NcclOperationRecord start(NcclEvent event, uint64_t id, int64_t timeNs, uint64_t parent = 0, uint32_t thread = 1,
                               uint64_t communicator = 0xabc) {
    log::NcclOperationRecord record{};
    record.event = event;
    record.id = id;
    record.timestampNs = timeNs;
    record.parent = parent;
    record.threadId = thread;
    record.communicator = communicator;
    return record;
}

log::NcclStopRecord stop(uint64_t id, int64_t timeNs) {
    log::NcclStopRecord record{};
    record.id = id;
    record.timestampNs = timeNs;
    return record;
}

struct Assembly {
    std::vector<NcclOperation> operations;
    NcclAssembler assembler{[this](const NcclOperation& one) { operations.push_back(one); }};
};

}  // namespace

class tst_NcclAssembler : public QObject {
    Q_OBJECT

  private slots:
    void joinsCallLaunchAndTask() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 12));
        a.assembler.add(start(NcclEvent::Launch, 2, 13));
        a.assembler.add(stop(2, 16));
        a.assembler.add(start(NcclEvent::Task, 3, 17, 1));
        QVERIFY(a.operations.empty());
        a.assembler.add(stop(3, 19));
        QCOMPARE(a.operations.size(), size_t{1});
        const NcclOperation& one = a.operations[0];
        QCOMPARE(one.call->begin.id, uint64_t{1});
        QCOMPARE(one.call->endNs, std::optional<int64_t>(12));
        QCOMPARE(one.launch->begin.timestampNs, int64_t{13});
        QCOMPARE(one.launch->endNs, std::optional<int64_t>(16));
        QCOMPARE(one.task->endNs, std::optional<int64_t>(19));
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{1});
    }

    void launchIsSharedOnlyWithinItsPlan() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Launch, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(start(NcclEvent::Task, 2, 12));
        a.assembler.add(start(NcclEvent::Task, 3, 13));
        a.assembler.add(stop(3, 14));  // in any order
        a.assembler.add(stop(2, 15));
        a.assembler.add(start(NcclEvent::Task, 4, 16));  // of a plan without a launch
        a.assembler.add(stop(4, 17));
        a.assembler.add(start(NcclEvent::Launch, 5, 18));
        a.assembler.add(start(NcclEvent::Task, 6, 19, 0, 2));       // of another thread
        a.assembler.add(start(NcclEvent::Task, 7, 20, 0, 1, 0x1));  // of another communicator
        a.assembler.add(start(NcclEvent::CopyEngine, 8, 21));
        for (uint64_t id : {6, 7, 8}) a.assembler.add(stop(id, 22));
        QCOMPARE(a.operations.size(), size_t{6});
        QCOMPARE(a.operations[0].launch->begin.id, uint64_t{1});
        QCOMPARE(a.operations[1].launch->begin.id, uint64_t{1});
        for (size_t index = 2; index < 6; ++index) QVERIFY(!a.operations[index].launch);
    }

    void waitsForACallOfAnotherThread() {
        Assembly a;
        a.assembler.add(stop(2, 30));
        a.assembler.add(start(NcclEvent::Task, 2, 20, 1, 7));
        QVERIFY(a.operations.empty());
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        QCOMPARE(a.operations.size(), size_t{1});
        QCOMPARE(a.operations[0].call->begin.id, uint64_t{1});
        QCOMPARE(a.operations[0].task->endNs, std::optional<int64_t>(30));
    }

    void callWithoutTaskIsEmittedAtTheEnd() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(start(NcclEvent::Task, 2, 20));
        QVERIFY(a.operations.empty());
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{2});
        QVERIFY(!a.operations[0].call && !a.operations[0].task->endNs);
        QVERIFY(a.operations[1].call && !a.operations[1].task);
    }

    void everyTaskOfAReplayedCallIsEmitted() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        for (uint64_t replay = 2; replay < 5; ++replay) {
            a.assembler.add(start(NcclEvent::Task, replay, 20, 1, 9));
            a.assembler.add(stop(replay, 21));
        }
        a.assembler.finish();
        QCOMPARE(a.operations.size(), size_t{3});
        for (const NcclOperation& one : a.operations) QCOMPARE(one.call->begin.id, uint64_t{1});
    }

    void ignoresASecondStop() {
        Assembly a;
        a.assembler.add(start(NcclEvent::Call, 1, 10));
        a.assembler.add(stop(1, 11));
        a.assembler.add(stop(1, 99));
        a.assembler.finish();
        QCOMPARE(a.operations[0].call->endNs, std::optional<int64_t>(11));
    }

    void everyOperationOfARandomLogIsEmittedOnce() {
        std::mt19937 random(7);
        const auto under = [&](uint32_t bound) { return random() % bound; };
        for (int round = 0; round < 50; ++round) {
            Assembly a;
            size_t tasks = 0;
            uint64_t next = 1;
            for (int step = 0; step < 2000; ++step) {
                const auto event = static_cast<NcclEvent>(under(6));
                if (under(2) != 0) {
                    a.assembler.add(stop(under(static_cast<uint32_t>(next) + 3), step));
                    continue;
                }
                if (event == NcclEvent::Task || event == NcclEvent::CopyEngine) ++tasks;
                const uint64_t id = next++;
                a.assembler.add(start(event, id, step, under(static_cast<uint32_t>(id) + 2), under(3), under(3)));
            }
            a.assembler.finish();
            size_t given = 0;
            for (const NcclOperation& one : a.operations) {
                QVERIFY(one.call || one.task);
                if (one.task) ++given;
            }
            QCOMPARE(given, tasks);
        }
    }

    void boundsItsMemory() {
        Assembly a;
        for (uint64_t id = 1; id <= 5 * NcclAssembler::maxKept; ++id)
            a.assembler.add(start(id % 2 != 0 ? NcclEvent::Task : NcclEvent::Call, id, 10, id + 1));
        QVERIFY(a.operations.size() >= NcclAssembler::maxKept);
        a.assembler.finish();
        QVERIFY(a.operations.size() >= 5 * NcclAssembler::maxKept / 2);
    }
};

LANESCOPE_TEST(tst_NcclAssembler, QCoreApplication)
#include "tst_NcclAssembler.moc"
