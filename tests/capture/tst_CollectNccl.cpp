// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/CollectorFixture.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;
using namespace lanescope::test;

namespace {

struct Nccl {
    TestLog& log;

    NcclOperationRecord start(NcclEvent event, uint64_t id, int64_t atNs, uint64_t parent = 0) {
        NcclOperationRecord record{};
        record.event = event;
        record.id = id;
        record.parent = parent;
        record.timestampNs = startNs + atNs;
        record.threadId = 4242;
        record.communicator = 0xabc;
        record.sequence = record.root = record.peer = -1;
        record.rank = 1;
        return record;
    }
    NcclOperationRecord asked(NcclOperationRecord record, const char* function, const char* type, uint64_t count) {
        record.function = log.string(function);
        record.datatype = log.string(type);
        record.count = count;
        return record;
    }
    NcclOperationRecord done(NcclOperationRecord record) {
        record.algorithm = log.string("NVLS");
        record.protocol = log.string("SIMPLE");
        record.channels = 24;
        record.warps = 16;
        record.sequence = 3;
        record.root = 0;
        return record;
    }
    void add(const NcclOperationRecord& record) { log.add(record); }
    void stop(uint64_t id, int64_t atNs) {
        NcclStopRecord record{};
        record.id = id;
        record.timestampNs = startNs + atNs;
        record.threadId = 4242;
        log.add(record);
    }
};

}  // namespace

class tst_CollectNccl : public QObject {
    Q_OBJECT
    std::unique_ptr<CollectorFixture> fixture_;

    CollectedRun collect(TestLog& log) {
        log.end(startNs + 1000);
        log.flush(startNs, startNs + 1000);
        log.writeTo(fixture_->logPath("box.1.4242.log"));
        return fixture_->collect();
    }
    std::string row(const char* sql) const { return fixture_->row(sql); }

  private slots:
    void init() { fixture_ = std::make_unique<CollectorFixture>(); }

    void writesOperationsAndCommunicators() {
        TestLog log;
        Nccl nccl{log};
        NcclCommunicatorRecord made{};
        made.hash = 0xabc;
        made.name = log.string("data parallel");
        made.rank = 1;
        made.rankCount = 8;
        made.nodeCount = 2;
        made.interfaceVersion = 5;
        log.add(made);
        log.add(made);  // Repeated, as in a log's next file.
        // NCCL gathers bytes, whatever the program's type.
        nccl.add(nccl.asked(nccl.start(NcclEvent::Call, 1, 10), "AllGather", "ncclBfloat16", 512));
        nccl.stop(1, 12);
        nccl.add(nccl.start(NcclEvent::Launch, 2, 13));
        nccl.stop(2, 17);
        nccl.add(nccl.done(nccl.asked(nccl.start(NcclEvent::Task, 3, 18, 1), "AllGather", "ncclInt8", 1024)));
        nccl.stop(3, 19);
        const CollectedRun run = collect(log);
        QCOMPARE(run.counts.of(ImportedKind::Nccl), 1);
        const int64_t tid = globalTid(4242, 4242);
        QCOMPARE(row("SELECT operation, datatype, count, bytes, communicator, rank, root, peer, "
                     "sequence, algorithm, protocol, channels, warps, isCaptured "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "AllGather|bfloat16|512|1024|2748|1|NULL|NULL|3|NVLS|SIMPLE|24|16|0");
        QCOMPARE(row("SELECT globalTid, start, \"end\", enqueueGlobalTid, enqueueStart, enqueueEnd, "
                     "launchGlobalTid, launchStart, launchEnd "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 fmt::format("{0}|10|12|{0}|18|19|{0}|13|17", tid));
        QCOMPARE(row("SELECT communicator, rank, rankCount, cudaDevice, nodeCount, name "
                     "FROM LANESCOPE_NCCL_COMMUNICATORS"),
                 "2748|1|8|NULL|2|data parallel");
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_NCCL_COMMUNICATORS"), "1");
        QCOMPARE(row("SELECT value FROM LANESCOPE_PROPERTIES WHERE name = 'ncclProfilerInterface'"), "5");
    }

    void omitsFieldsThatOldNcclLacks() {
        TestLog log;
        Nccl nccl{log};
        NcclOperationRecord task =
            nccl.done(nccl.asked(nccl.start(NcclEvent::Task, 1, 10), "Broadcast", "ncclInt8", 1024));
        task.root = 5;
        nccl.add(task);
        nccl.stop(1, 11);
        collect(log);
        QCOMPARE(row("SELECT datatype, count, bytes, root, start, isCaptured, launchStart "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "NULL|NULL|1024|5|NULL|NULL|NULL");
    }

    void keepsUnfinishedOperations() {
        TestLog log;
        Nccl nccl{log};
        nccl.add(nccl.asked(nccl.start(NcclEvent::Call, 1, 10), "Send", "ncclFloat8e4m3", 7));
        nccl.add(nccl.start(NcclEvent::Task, 2, 20, 1));
        collect(log);
        QCOMPARE(row("SELECT operation, datatype, bytes, start, \"end\", enqueueStart, enqueueEnd "
                     "FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"),
                 "Send|float8e4m3|7|10|NULL|20|NULL");
    }

    void survivesBadRecords() {
        TestLog log;
        Nccl nccl{log};
        NcclOperationRecord odd = nccl.start(static_cast<NcclEvent>(77), 1, 10);
        nccl.add(odd);
        odd = nccl.start(NcclEvent::Task, 0, INT64_MIN);
        odd.function = odd.datatype = odd.algorithm = 999;  // lost
        odd.count = UINT64_MAX;
        odd.rank = INT32_MIN;
        odd.sequence = INT64_MIN;
        nccl.add(odd);
        nccl.stop(0, 5);
        nccl.stop(UINT64_MAX, 5);
        nccl.add(nccl.asked(nccl.start(NcclEvent::Task, 5, 10), "AllReduce", "ncclFloat64", UINT64_MAX / 2));
        NvtxDomainRecord tooShort{};
        log.add(RecordKind::NcclOperation, tooShort);
        log.add(RecordKind::NcclStop, ThreadNameRecord{});
        log.add(RecordKind::NcclCommunicator, ThreadNameRecord{});
        const CollectedRun run = collect(log);
        QCOMPARE(row("SELECT count(*) FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS"), "2");
        QCOMPARE(row("SELECT operation, rank, sequence, bytes FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS "
                     "WHERE operation IS NULL"),
                 "NULL|NULL|NULL|NULL");
        QCOMPARE(row("SELECT bytes FROM LANESCOPE_NCCL_PLUGIN_OPERATIONS "
                     "WHERE operation = 'AllReduce'"),
                 "NULL");
        QCOMPARE(row("SELECT count FROM LANESCOPE_HEALTH WHERE code = 'log-odd-records'"), "3");
        QCOMPARE(run.counts.of(ImportedKind::Nccl), 2);
    }

    void reportsMissingNcclRanges() {
        for (const bool nvtxIsOff : {false, true}) {
            init();
            TestLog log;
            if (nvtxIsOff) log.property("nvtx", "off");
            Nccl nccl{log};
            nccl.add(nccl.start(NcclEvent::Task, 1, 10));
            collect(log);
            QCOMPARE(row("SELECT count(*) FROM LANESCOPE_HEALTH WHERE code = 'nccl-nvtx-off'"), nvtxIsOff ? "0" : "1");
        }
    }

    void reportsDroppedRecords() {
        TestLog log;
        DroppedRecord dropped{};
        dropped.what = Loss::NcclEvents;
        dropped.count = 12;
        log.add(dropped);
        collect(log);
        QVERIFY(row("SELECT sentence FROM LANESCOPE_HEALTH WHERE code = 'events-dropped'").find("12 NCCL events") !=
                std::string::npos);
    }
};

LANESCOPE_TEST(tst_CollectNccl, QCoreApplication)
#include "tst_CollectNccl.moc"
