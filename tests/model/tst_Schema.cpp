// SPDX-License-Identifier: Apache-2.0
#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/Memory.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Enums.h"
#include "model/format/tables/Schema.h"
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

    void fileIsMarkedAsLanescopeTrace() {
        const Database database = open();
        QCOMPARE(database.pragma("application_id"), int64_t{traceApplicationId});
        QCOMPARE(database.pragma("user_version"), int64_t{traceSchemaVersion});
        auto version = database.prepare("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'");
        QVERIFY(version && *version->step());
        QCOMPARE(version->text(0), std::string_view("3.25.0"));
    }

    void tablesMatchTheGoldenFile() {
        // Readers rely on names, order and types: a difference here affects all of them.
        std::string sql;
        for (const tables::Table* table : tables::traceTables()) sql += createSql(*table);
        for (const tables::Table* table : tables::storedTables()) sql += createSql(*table);
        const std::filesystem::path golden = LANESCOPE_SOURCE_DIR "/tests/golden/schema.sql";
        std::ostringstream expected;
        expected << std::ifstream(golden).rdbuf();
        if (expected.str() != sql && qEnvironmentVariableIntValue("LANESCOPE_UPDATE_GOLDEN") != 0)
            std::ofstream(golden) << sql;
        else
            QCOMPARE(QString::fromStdString(sql), QString::fromStdString(expected.str()));
    }

    void workTablesHaveTimes() {
        // Programs for Nsight Systems exports compute with these ids.
        TemporaryFolder folder;
        auto database = Database::create(folder / "trace");
        QVERIFY(createTraceTables(*database));
        QVERIFY(
            !database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                               " bytes, copyKind) VALUES (NULL, NULL, 0, 1, 7, 4, 1)"));
    }

    void emptyNsightTablesAreOmitted() {
        TemporaryFolder folder;
        auto database = Database::create(folder / "trace");
        QVERIFY(createTraceTables(*database));
        QVERIFY(
            database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId, streamId,"
                              " bytes, copyKind) VALUES (1, 2, 0, 1, 7, 4, 1)"));
        QVERIFY(dropEmptyTables(*database));
        QVERIFY(database->hasTable("CUPTI_ACTIVITY_KIND_MEMCPY"));
        for (const char* left : {"CUPTI_ACTIVITY_KIND_KERNEL", "ThreadNames", "PROCESSES"})
            QVERIFY2(!database->hasTable(left), left);
        for (const char* kept :
             {"StringIds", "ENUM_CUDA_MEM_KIND", "META_DATA_EXPORT", "META_DATA_CAPTURE", "LANESCOPE_HEALTH"})
            QVERIFY2(database->hasTable(kept), kept);
        QVERIFY(dropEmptyTables(*database));
    }

    void kindNamesMatchNsight() {
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

    void kindNumbersMatchRealExports() {
        const auto files = sampleExports();
        if (files.empty()) QSKIP("LANESCOPE_TEST_DATA names no folder with exports.");
        const Database native = open();
        int compared = 0;
        for (const auto& file : files) {
            const auto theirs = Database::openReadOnly(file);
            QVERIFY(theirs);
            for (const char* table :
                 {"ENUM_CUDA_MEMCPY_OPER", "ENUM_CUDA_MEM_KIND", "ENUM_CUPTI_SYNC_TYPE", "ENUM_CUPTI_STREAM_TYPE"}) {
                if (!theirs->hasTable(table)) continue;
                const std::string sql = std::string("SELECT id, name, label FROM ") + table;
                auto expected = theirs->prepare(sql + " ORDER BY id");
                auto found = native.prepare(sql + " ORDER BY id");
                while (*expected->step()) {
                    QVERIFY(*found->step());
                    for (int column = 0; column < 3; ++column) QCOMPARE(found->text(column), expected->text(column));
                    ++compared;
                }
            }
        }
        QVERIFY(compared > 0);
    }

    void idsPackAndUnpack() {
        const int64_t tid = globalTid(4242, 4243, 3);
        QCOMPARE(processIdOf(tid), 4242u);
        QCOMPARE(threadIdOf(tid), 4243u);
        QCOMPARE(processOf(tid), globalPid(4242, 3));
        // The formula in programs for Nsight Systems exports.
        QCOMPARE(tid / 0x1000000 % 0x1000000, int64_t{4242});
        QCOMPARE(tid % 0x1000000, int64_t{4243});
    }

  private:
    Database open() { return std::move(*Database::openReadOnly(folder_ / "trace")); }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_Schema, NoApplication)
#include "tst_Schema.moc"
