// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Cuda.h"
#include "model/importers/loadTrace.h"
#include "model/trace/kinds/flows.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// Correlations ascend with every call, including launches.
struct Calls {
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread();
    uint32_t gpu = builder.addGpu();
    uint32_t compute = builder.addStream(0, gpu, 7);
    uint32_t copy = builder.addStream(0, gpu, 20);
    int64_t nowNs = 1'000;
    uint32_t correlation = 0;
    struct Work {
        uint32_t stream, correlation;
        EventRef event;
    };
    struct EventCall {
        bool isRecord;
        uint32_t stream, event, correlation;
    };
    std::vector<Work> work;
    std::vector<EventCall> eventCalls;

    EventRef launch(uint32_t stream, const char* name = "kernel") {
        ++correlation;
        builder.addApi(thread, "cudaLaunchKernel", nowNs, nowNs + 10, correlation);
        const EventRef event = builder.addKernel(stream, name, nowNs + 100, nowNs + 150, correlation);
        work.push_back({stream, correlation, event});
        nowNs += 200;
        return event;
    }
    void record(uint32_t stream, uint32_t event, uint32_t eventSync = noIndex) {
        builder.eventRecord({stream, event, eventSync, ++correlation});
        eventCalls.push_back({true, stream, event, correlation});
    }
    void wait(uint32_t stream, uint32_t event, uint32_t eventSync = noIndex) {
        builder.eventWait({stream, event, eventSync, ++correlation});
        eventCalls.push_back({false, stream, event, correlation});
    }
    /// Every (before, after), by testing everything.
    std::vector<std::pair<EventRef, EventRef>> plainLoop() const {
        std::vector<std::pair<EventRef, EventRef>> pairs;
        for (const EventCall& wait : eventCalls) {
            if (wait.isRecord) continue;
            const EventCall* record = nullptr;
            for (const EventCall& each : eventCalls)
                if (each.isRecord && each.event == wait.event && each.correlation < wait.correlation) record = &each;
            if (!record || record->stream == wait.stream) continue;
            EventRef before, after;
            for (const Work& each : work)
                if (each.stream == record->stream && each.correlation < record->correlation) before = each.event;
            for (auto each = work.rbegin(); each != work.rend(); ++each)
                if (each->stream == wait.stream && each->correlation > wait.correlation) after = each->event;
            if (before.isValid() && after.isValid()) pairs.emplace_back(before, after);
        }
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }
};

using Events = std::vector<EventRef>;

}  // namespace

class tst_StreamWaits : public QObject {
    Q_OBJECT

  private slots:
    void nextWorkWaitsForTheLastBeforeTheRecord() {
        Calls calls;
        calls.launch(calls.compute);
        const EventRef before = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef unrelated = calls.launch(calls.compute);
        const EventRef early = calls.launch(calls.copy);
        calls.wait(calls.copy, 3);
        const EventRef after = calls.launch(calls.copy);
        const EventRef later = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(awaitedWork(*trace, after), Events{before});
        QCOMPARE(waitingWork(*trace, before), Events{after});
        for (const EventRef none : {unrelated, early, later}) {
            QVERIFY(awaitedWork(*trace, none).empty());
            QVERIFY(waitingWork(*trace, none).empty());
        }
        QCOMPARE(trace->eventRecords.size(), 0u);
    }

    void lastRecordBeforeTheWaitCounts() {
        Calls calls;
        calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef second = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        calls.wait(calls.copy, 3);
        calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(awaitedWork(*trace, after), Events{second});
    }

    void eventIdsJoinWaitAndRecord() {
        Calls calls;
        const EventRef first = calls.launch(calls.compute);
        calls.record(calls.compute, 3, 71);
        calls.launch(calls.compute);
        calls.record(calls.compute, 3, 72);
        calls.wait(calls.copy, 3, 71);
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(awaitedWork(*trace, after), Events{first});
    }

    void waitsWithoutEffectAreSkipped() {
        Calls calls;
        calls.launch(calls.compute);
        calls.wait(calls.copy, 3);  // nothing was recorded yet
        calls.record(calls.compute, 3);
        calls.wait(calls.compute, 3);  // a stream runs its own work in order anyway
        calls.wait(calls.copy, 4);     // that event was never recorded
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(trace->streamWaits.size(), 0u);
        QVERIFY(awaitedWork(*trace, after).empty());
        QVERIFY(awaitedWork(*trace, EventRef(EventKind::Kernel, 500)).empty());
        QVERIFY(waitingWork(*trace, EventRef()).empty());
    }

    void flowsRunInBothDirections() {
        Calls calls;
        const EventRef before = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        calls.wait(calls.copy, 3);
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        const EventRef call = trace->launchingCall(after);
        QCOMPARE(causesOf(*trace, after), (Events{call, before}));
        QCOMPARE(causedBy(*trace, before), Events{after});
        QCOMPARE(causedBy(*trace, call), Events{after});
        QVERIFY(causesOf(*trace, call).empty());
    }

    void waitsMatchPlainLoop() {
        std::mt19937 random(20);
        for (int round = 0; round < 40; ++round) {
            Calls calls;
            const uint32_t streams[] = {calls.compute, calls.copy, calls.builder.addStream(0, calls.gpu, 21)};
            for (int i = 0; i < 120; ++i) {
                const uint32_t stream = streams[random() % 3];
                const uint32_t event = random() % 4;
                switch (random() % 4) {
                    case 0: calls.record(stream, event); break;
                    case 1: calls.wait(stream, event); break;
                    default: calls.launch(stream);
                }
            }
            const auto expected = calls.plainLoop();
            const auto work = calls.work;
            const TracePtr trace = calls.builder.finish();
            std::vector<std::pair<EventRef, EventRef>> forwards, backwards;
            for (const auto& each : work) {
                for (const EventRef after : waitingWork(*trace, each.event)) forwards.emplace_back(each.event, after);
                for (const EventRef before : awaitedWork(*trace, each.event))
                    backwards.emplace_back(before, each.event);
            }
            std::sort(forwards.begin(), forwards.end());
            std::sort(backwards.begin(), backwards.end());
            QVERIFY(!expected.empty());
            QVERIFY(forwards == expected);
            QVERIFY(backwards == expected);
        }
    }

    void waitsAreReadFromAFile() {
        const TemporaryFolder folder;
        Calls calls;
        const EventRef before = calls.launch(calls.compute);
        calls.correlation = 10;
        const EventRef after = calls.launch(calls.copy);
        const TracePtr written = calls.builder.finish();
        const auto path = folder / "waits.sqlite";
        QVERIFY(writeTraceFile(*written, path));
        {
            auto database = openForWriting(path);
            QVERIFY(database);
            // Events without a row, which were skipped.
            QVERIFY(database->execute((createSql(tables::cudaEvents) + createSql(tables::syncs)).c_str()));
            QVERIFY(
                database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId,"
                                  " correlationId, globalPid, eventId) SELECT deviceId, contextId, streamId, 5,"
                                  " globalPid, 9 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 1"));
            QVERIFY(
                database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId,"
                                  " contextId, streamId, correlationId, globalPid, syncType, eventId)"
                                  " SELECT start, start + 1, deviceId, contextId, streamId, 6, globalPid, 2, 9"
                                  " FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 11"));
        }
        const auto read = loadTrace(path);
        QVERIFY(read);
        QCOMPARE((*read)->streamWaits.size(), 1u);
        QCOMPARE(awaitedWork(**read, after), Events{before});
    }
};

LANESCOPE_TEST(tst_StreamWaits, NoApplication)
#include "tst_StreamWaits.moc"
