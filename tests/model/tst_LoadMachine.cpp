// SPDX-License-Identifier: Apache-2.0
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/loadTrace.h"
#include "model/reports/describeTopology.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// The packed ids of process 4242 and its main thread.
constexpr int64_t pid = globalPid(4242);
constexpr int64_t tid = globalTid(4242, 4242);

}  // namespace

class tst_LoadMachine : public QObject {
    Q_OBJECT

  private slots:
    void init() { folder_ = std::make_unique<TemporaryFolder>(); }

    void hostsWithEqualProcessIdsAreDistinguished() {
        const int64_t elsewhere = globalPid(4242, 1);
        write(QString("INSERT INTO TARGET_INFO_GPU (id, name) VALUES (0, 'first'), (1, 'second');"
                      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, %1), (1, 0, %2);"
                      "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (7, 0, 1, 4242, 0, 1, NULL, 0),"
                      " (8, 1, 1, 4242, 0, 1, NULL, 0), (8, 2, 1, 4242, 0, 1, NULL, 0);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, \"end\", deviceId, contextId,"
                      " streamId, globalPid, value, bytes) VALUES (1, 2, 0, 1, 7, %1, 0, 4),"
                      " (3, 4, 0, 1, 8, %2, 0, 4), (5, 6, 0, 1, 8, %1, 0, 4)")
                  .arg(pid)
                  .arg(elsewhere));
        const TracePtr trace = load();
        const auto streamOf = [&](size_t row) { return trace->streams[trace->memsets.stream[row]]; };
        QCOMPARE(trace->processes.size(), size_t{2});
        QCOMPARE(trace->gpus[streamOf(0).gpu].name, std::string("first"));
        QCOMPARE(trace->gpus[streamOf(1).gpu].name, std::string("second"));
        QCOMPARE(trace->gpus[streamOf(2).gpu].name, std::string("first"));
        QVERIFY(streamOf(0).isNullStream);
        QVERIFY(streamOf(1).isNullStream);
        QVERIFY(!streamOf(2).isNullStream);
    }

    void unknownDeviceIsNoGpu() {
        write(QString("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId,"
                      " contextId, streamId, globalPid, syncType, eventId)"
                      " VALUES (330, 340, -1, 1, 7, %1, 3, 0)")
                  .arg(pid));
        const TracePtr trace = load();
        QCOMPARE(trace->syncs.size(), 1u);
        QCOMPARE(trace->syncs.stream[0], noIndex);
        QVERIFY(trace->gpus.empty());
        QVERIFY(trace->streams.empty());
    }

    void gpuConnectionsAreReported_data() {
        QTest::addColumn<QString>("rows");
        QTest::addColumn<QStringList>("lines");
        QTest::newRow("two") << "(0, 1, 18, 'NVLink'), (1, 0, 18, 'NVLink')"
                             << QStringList{"GPU 0\u2013GPU 1: NVLink, 18 links"};
        QTest::newRow("no NVLink") << "(0, 1, 0, 'PCIe switch')" << QStringList{"GPU 0\u2013GPU 1: PCIe switch"};
        QTest::newRow("all alike") << "(0, 1, 18, 'NVSwitch'), (0, 2, 18, 'NVSwitch'), (1, 2, 18, "
                                      "'NVSwitch')"
                                   << QStringList{"between any two of GPU 0\u20132: NVSwitch, 18 links"};
        QTest::newRow("not alike") << "(0, 1, 1, 'NVLink'), (0, 2, 0, 'system'), (1, 2, 0, 'system')"
                                   << QStringList{"GPU 0\u2013GPU 1: NVLink, 1 link", "GPU 0\u2013GPU 2: system",
                                                  "GPU 1\u2013GPU 2: system"};
        QTest::newRow("not all") << "(0, 1, 4, 'NVLink'), (2, 3, 4, 'NVLink'), (4, 5, 4, 'NVLink')"
                                 << QStringList{"GPU 0\u2013GPU 1: NVLink, 4 links",
                                                "GPU 2\u2013GPU 3: NVLink, 4 links",
                                                "GPU 4\u2013GPU 5: NVLink, 4 links"};
        QTest::newRow("nonsense") << "('x', 1, 4, 'NVLink'), (2, 2, 4, 'NVLink'), (NULL, NULL, 0, 0)" << QStringList{};
    }
    void gpuConnectionsAreReported() {
        QFETCH(QString, rows);
        QFETCH(QStringList, lines);
        write("INSERT INTO LANESCOPE_TOPOLOGY (gpuId, peerGpuId, nvlinkCount, connection) VALUES " + rows);
        QStringList found;
        const TracePtr trace = load();
        for (const LinkLine& line : linkLines(*trace)) found << QString::fromStdString(line.gpus + ": " + line.text());
        QCOMPARE(found, lines);
    }

    void profilerOverheadIsReported() {
        // Flushing on two threads and on none, instrumentation, loading a module, no time, nonsense.
        write(QString("INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES"
                      " (0, 5000000, 103, %1, 1, 0, 3), (10, 3000010, 103, %1 + 1, 1, 0, 3),"
                      " (0, 9000000, 103, %2, 1, 0, 3), (7, 4000007, 103, %1, 1, 0, 4),"
                      " (0, 7000000, 103, %1, 1, 0, 6), (0, 0, 103, %1, 1, 0, 3),"
                      " ('x', 7, 103, %1, 1, 0, 3)")
                  .arg(tid)
                  .arg(pid));
        const TracePtr trace = load();
        QStringList notes;
        for (const HealthNote& note : trace->health)
            if (note.severity == Severity::Info) notes << QString::fromStdString(note.sentence);
        QCOMPARE(notes, QStringList{"Profiler overhead on the program's threads: 12.00 ms (flushing "
                                    "CUPTI's buffers 8.000 ms, CUPTI's instrumentation 4.000 ms)."});
    }

  private:
    /// Writes a trace file with the rows that `sql` inserts.
    void write(const QString& sql) const {
        auto database = Database::create(*folder_ / "trace");
        QVERIFY(database);
        QVERIFY(createTraceTables(*database));
        const auto done = database->execute(sql.toUtf8().constData());
        QVERIFY2(done, done ? "" : done.error().sentence.c_str());
    }
    TracePtr load() const {
        const Result<TracePtr> trace = loadTrace(*folder_ / "trace");
        if (!trace) qFatal("%s", trace.error().sentence.c_str());
        return *trace;
    }

    std::unique_ptr<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_LoadMachine, QCoreApplication)
#include "tst_LoadMachine.moc"
