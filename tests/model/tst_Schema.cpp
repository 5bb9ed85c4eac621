#include <QtTest>

#include "model/format/EnumTables.h"
#include "model/format/GlobalId.h"
#include "model/format/Memory.h"
#include "model/format/Schema.h"
#include "model/format/Sqlite.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"

using namespace lanescope;

class tst_Schema : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        auto database = Database::create(folder_ / "trace");
        QVERIFY(database);
        const auto created = createTraceTables(*database);
        QVERIFY2(created, created ? "" : created.error().sentence.c_str());
    }

    void marksTheFileAsOurs();
    void hasTheTablesOfAnExport_data();
    void hasTheTablesOfAnExport();
    void timesMayBeMissing();
    void namesKindsAsNsightDoes();
    void numbersAreTheSameInRealExports();
    void idsPackAndUnpack();

  private:
    Database open() { return std::move(*Database::openReadOnly(folder_ / "trace")); }

    TemporaryFolder folder_;
};

void tst_Schema::marksTheFileAsOurs() {
    const Database database = open();
    QCOMPARE(database.pragma("application_id"), int64_t{traceApplicationId});
    QCOMPARE(database.pragma("user_version"), int64_t{traceSchemaVersion});
    auto version =
        database.prepare("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
    QVERIFY(version && *version->step());
    QCOMPARE(version->text(0), std::string_view("3.25.0"));
}

void tst_Schema::hasTheTablesOfAnExport_data() {
    QTest::addColumn<QByteArray>("columns");
    // In the order of the export, as far as readers are known to rely on it.
    QTest::newRow("StringIds") << QByteArray("id,value");
    QTest::newRow("CUPTI_ACTIVITY_KIND_KERNEL") << QByteArray(
        "start,end,deviceId,contextId,greenContextId,streamId,correlationId,"
        "globalPid,demangledName,shortName,mangledName,launchType,cacheConfig");
    QTest::newRow("CUPTI_ACTIVITY_KIND_MEMCPY") << QByteArray(
        "start,end,deviceId,contextId,greenContextId,streamId,correlationId,"
        "globalPid,bytes,copyKind,deprecatedSrcId,srcKind,dstKind");
    QTest::newRow("CUPTI_ACTIVITY_KIND_MEMSET") << QByteArray(
        "start,end,deviceId,contextId,greenContextId,streamId,correlationId,"
        "globalPid,value,bytes,graphNodeId,memKind");
    QTest::newRow("CUPTI_ACTIVITY_KIND_RUNTIME")
        << QByteArray("start,end,eventClass,globalTid,correlationId,nameId,returnValue");
    QTest::newRow("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION") << QByteArray("start,end,deviceId");
    QTest::newRow("NVTX_EVENTS") << QByteArray(
        "start,end,eventType,rangeId,category,color,text,globalTid,endGlobalTid,"
        "textId,domainId,uint64Value");
    QTest::newRow("ThreadNames") << QByteArray("nameId,priority,globalTid");
    QTest::newRow("PROCESSES") << QByteArray("globalPid,pid,name");
    QTest::newRow("TARGET_INFO_GPU") << QByteArray("vmId,id,name,busLocation");
    QTest::newRow("TARGET_INFO_CUDA_DEVICE") << QByteArray("gpuId,cudaId,pid");
    QTest::newRow("DIAGNOSTIC_EVENT") << QByteArray("timestamp,timestampType,source,severity,text");
    QTest::newRow("LANESCOPE_NCCL_OPERATIONS")
        << QByteArray("nvtxRow,operation,bytes,communicator,reduction,root,peer,globalTid");
    QTest::newRow("LANESCOPE_NCCL_COMMUNICATORS")
        << QByteArray("globalPid,communicator,rank,rankCount,cudaDevice,nodeCount,name");
    QTest::newRow("LANESCOPE_NCCL_PLUGIN_OPERATIONS") << QByteArray(
        "globalTid,start,end,operation,datatype,count,bytes,communicator,rank,root,"
        "peer,sequence,algorithm,protocol,channels,warps,isCaptured,enqueueGlobalTid,"
        "enqueueStart,enqueueEnd,launchGlobalTid,launchStart,launchEnd");
    QTest::newRow("LANESCOPE_HEALTH")
        << QByteArray("severity,code,globalPid,timestamp,count,sentence");
    QTest::newRow("LANESCOPE_PROCESSES")
        << QByteArray("globalPid,rank,startNs,endNs,endedNormally,exitStatus,logFile");
    QTest::newRow("GPU_METRICS") << QByteArray("timestamp,typeId,metricId,value");
    QTest::newRow("TARGET_INFO_GPU_METRICS")
        << QByteArray("typeId,sourceId,typeName,metricId,metricName");
    QTest::newRow("LANESCOPE_COUNTERS") << QByteArray(
        "counterId,source,name,title,unit,meaning,gpuId,globalPid,link,core,device,"
        "direction,granularity,wrapBits,hostName");
    QTest::newRow("LANESCOPE_COUNTER_SAMPLES") << QByteArray("counterId,timestamp,value");
    QTest::newRow("LANESCOPE_LINK_PEAKS") << QByteArray(
        "kind,gpuId,peerGpuId,direction,memory,bytesPerSecond,links,generation,width,"
        "origin");
    QTest::newRow("ENUM_CUDA_MEMCPY_OPER") << QByteArray("id,name,label");
}

void tst_Schema::hasTheTablesOfAnExport() {
    QFETCH(QByteArray, columns);
    const Database database = open();
    const std::string table = QTest::currentDataTag();
    QVERIFY(database.hasTable(table));
    auto statement = database.prepare("SELECT * FROM " + table);
    QVERIFY(statement);
    int index = 0;
    for (const QByteArray& column : columns.split(','))
        QCOMPARE(statement->columnName(index++), column.toStdString());
}

void tst_Schema::timesMayBeMissing() {
    TemporaryFolder folder;
    auto database = Database::create(folder / "trace");
    QVERIFY(createTraceTables(*database));
    QVERIFY(database->execute(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
        " bytes, copyKind) VALUES (NULL, NULL, 0, 1, 7, 4, 1)"));
}

void tst_Schema::namesKindsAsNsightDoes() {
    const Database database = open();
    auto kinds = database.prepare("SELECT label FROM ENUM_CUDA_MEMCPY_OPER WHERE id = 1");
    QVERIFY(kinds && *kinds->step());
    QCOMPARE(kinds->text(0), std::string_view("Host-to-Device"));
    auto memory = database.prepare("SELECT name, label FROM ENUM_CUDA_MEM_KIND WHERE id = 0");
    QVERIFY(memory && *memory->step());
    QCOMPARE(memory->text(0), std::string_view("CUDA_MEMOPR_MEMORY_KIND_PAGEABLE"));
    QCOMPARE(memory->text(1), std::string_view("Pageable"));
    QCOMPARE(database.rowCount("ENUM_CUDA_MEMCPY_OPER"), int64_t{memcpyKindCount});
    QCOMPARE(memcpyKindFrom(99), MemcpyKind::Unknown);
    QCOMPARE(memoryKindFrom(-1), MemoryKind::Unknown);
}

void tst_Schema::numbersAreTheSameInRealExports() {
    const auto files = sampleExports();
    if (files.empty()) QSKIP("LANESCOPE_TEST_DATA names no folder with exports.");
    const Database ours = open();
    int compared = 0;
    for (const auto& file : files) {
        const auto theirs = Database::openReadOnly(file);
        QVERIFY(theirs);
        for (const char* table : {"ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND",
                                  "ENUM_CUPTI_SYNC_TYPE", "ENUM_CUPTI_STREAM_TYPE"}) {
            if (!theirs->hasTable(table)) continue;
            const std::string sql = std::string("SELECT id, name, label FROM ") + table;
            auto expected = theirs->prepare(sql + " ORDER BY id");
            auto found = ours.prepare(sql + " ORDER BY id");
            while (*expected->step()) {
                QVERIFY(*found->step());
                for (int column = 0; column < 3; ++column)
                    QCOMPARE(found->text(column), expected->text(column));
                ++compared;
            }
        }
    }
    QVERIFY(compared > 0);
}

void tst_Schema::idsPackAndUnpack() {
    const int64_t tid = globalTid(4242, 4243, 3);
    QCOMPARE(processIdOf(tid), 4242u);
    QCOMPARE(threadIdOf(tid), 4243u);
    QCOMPARE(processOf(tid), globalPid(4242, 3));
    // The formula that programs written for the exports use.
    QCOMPARE(tid / 0x1000000 % 0x1000000, int64_t{4242});
    QCOMPARE(tid % 0x1000000, int64_t{4243});
}

LANESCOPE_TEST(tst_Schema, NoApplication)
#include "tst_Schema.moc"
