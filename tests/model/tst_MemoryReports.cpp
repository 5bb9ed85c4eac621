// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/importers/loadTrace.h"
#include "model/reports/reports.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

std::vector<std::vector<Cell>> rowsOf(const Trace& trace, std::string_view name, std::optional<TimeRange> range = {}) {
    const auto table = makeReport(trace, name, range);
    if (!table) qFatal("%s", table.error().sentence.c_str());
    return table->rows;
}

int64_t whole(const Cell& cell) { return std::get<int64_t>(cell); }

}  // namespace

class tst_MemoryReports : public QObject {
    Q_OBJECT

  private slots:
    void allocationsAreSummed() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 100, 10);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x2, 300, 20);
        builder.addFree(0, 0, 0x1, 30);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 50, 30);
        builder.addAllocation(0, 0, MemoryKind::Pinned, 0x3, 7, 40);
        const TracePtr trace = builder.finish();
        const auto rows = rowsOf(*trace, "cuda_memory_sum");
        QCOMPARE(rows.size(), size_t{2});
        const std::vector<Cell>& device = rows[0];
        QCOMPARE(std::get<std::string>(device[0]), "Simulated H200 (0)");
        QCOMPARE(std::get<std::string>(device[1]), "Device");
        QCOMPARE(whole(device[3]), 3);    // Allocations.
        QCOMPARE(whole(device[4]), 1);    // Frees.
        QCOMPARE(whole(device[5]), 450);  // In all.
        QCOMPARE(whole(device[6]), 300);  // Largest.
        QCOMPARE(whole(device[7]), 400);  // Peak: frees at a moment precede allocations.
        QCOMPARE(whole(device[8]), 350);  // Never freed.
        QCOMPARE(std::get<double>(device[9]), 20.0);
        QCOMPARE(std::get<std::string>(rows[1][0]), "Host");
        QVERIFY(std::holds_alternative<std::monostate>(rows[1][9]));
    }

    void onlyTheRangeIsSummed() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x1, 100, 10);
        builder.addFree(0, 0, 0x1, 30);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x2, 300, 100);
        builder.addFree(0, 0, 0x2, 900);
        const TracePtr trace = builder.finish();
        const auto rows = rowsOf(*trace, "cuda_memory_sum", TimeRange{50, 500});
        QCOMPARE(rows.size(), size_t{1});
        QCOMPARE(whole(rows[0][3]), 1);
        QCOMPARE(whole(rows[0][7]), 300);
        QCOMPARE(whole(rows[0][8]), 300);  // Alive when the range ended.
    }

    void migrationsAndFaultsAreCounted() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        // Unsorted by time, so that sorting moves rows.
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 1024, 10, 20);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 77, 20, 30);
        builder.addPageFault(0, 0, 0x1000, 12, FaultAccess::Read, 5, 9);
        builder.addPageFault(0, noIndex, 0x1000, 1, FaultAccess::Unknown, 6, 6);
        builder.addPageFault(0, noIndex, 0x2000, 1, FaultAccess::Unknown, 7, 7);
        const TracePtr trace = builder.finish();
        const auto totals = rowsOf(*trace, "um_total_sum");
        QCOMPARE(totals.size(), size_t{1});
        QCOMPARE(whole(totals[0][0]), 4096);
        QCOMPARE(whole(totals[0][1]), 1024);
        QCOMPARE(whole(totals[0][2]), 2);
        QCOMPARE(whole(totals[0][3]), 12);
        QCOMPARE(std::get<std::string>(totals[0][4]), "0x1000");
        QCOMPARE(std::get<std::string>(totals[0][5]), "0x3000");
        const auto addresses = rowsOf(*trace, "um_sum");
        QCOMPARE(addresses.size(), size_t{3});
        QCOMPARE(std::get<std::string>(addresses[0][0]), "0x1000");
        QCOMPARE(whole(addresses[0][1]), 4096);
        QCOMPARE(whole(addresses[0][3]), 1);
        QCOMPARE(whole(addresses[0][4]), 12);
        QCOMPARE(std::get<double>(addresses[0][5]), 409.6);
        QCOMPARE(std::get<std::string>(addresses[1][0]), "0x3000");
        QVERIFY(std::holds_alternative<std::monostate>(addresses[2][5]));
        const auto faults = rowsOf(*trace, "um_cpu_page_faults_sum");
        QCOMPARE(faults.size(), size_t{1});
        QCOMPARE(whole(faults[0][0]), 2);
        QCOMPARE(std::get<std::string>(faults[0][1]), "0x4011f6");
        QVERIFY(rowsOf(*trace, "um_total_sum", TimeRange{500, 600}).empty());
    }

    void migrationsWithoutBytesHaveNoSize() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 0, 10, 40);
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 0, 50, 60);
        const TracePtr trace = builder.finish();
        const auto isEmpty = [](const Cell& cell) { return std::holds_alternative<std::monostate>(cell); };
        const auto totals = rowsOf(*trace, "um_total_sum");
        QCOMPARE(whole(totals[0][0]), 4096);
        QVERIFY(isEmpty(totals[0][1]));
        const auto addresses = rowsOf(*trace, "um_sum");
        QCOMPARE(whole(addresses[0][1]), 4096);
        QCOMPARE(whole(addresses[0][2]), 0);
        QCOMPARE(std::get<double>(addresses[0][5]), 409.6);
        QVERIFY(isEmpty(addresses[1][2]) && isEmpty(addresses[1][5]));
    }

    /// Every source gives the same number, for read and for generated traces.
    void countsMatchTheReports() {
        SimulatedTrace builder;
        const uint32_t stream = builder.defaultStream();
        builder.addMigration(stream, MemcpyKind::UvmDtoH, 0x3000, 1024, 10, 20);
        builder.addMigration(stream, MemcpyKind::UvmHtoD, 0x1000, 4096, 0, 10);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 77, 20, 30);
        builder.addPageFault(0, 0, 0x1000, 12, FaultAccess::Read, 5, 9);
        builder.addPageFault(0, 0, 0x2000, 30, FaultAccess::Write, 6, 9);
        builder.addPageFault(0, noIndex, 0x1000, 1, FaultAccess::Unknown, 6, 6);
        const TracePtr made = builder.finish();
        const TemporaryFolder folder;
        QVERIFY(writeTraceFile(*made, folder / "trace"));
        const auto read = loadTrace(folder / "trace");
        QVERIFY(read);
        for (const TracePtr& trace : {made, *read}) {
            std::map<std::string, int64_t> counts;
            for (const EventCount& count : trace->counts) counts[count.name] += count.total;
            QCOMPARE(counts["memcpys"], 1);
            QCOMPARE(counts["managed migrations"], 2);
            QVERIFY(!counts.contains("page faults"));
            const auto totals = rowsOf(*trace, "um_total_sum");
            QCOMPARE(counts["CPU page faults"], whole(totals[0][2]));
            QCOMPARE(counts["GPU page faults"], whole(totals[0][3]));
            QCOMPARE(counts["GPU page faults"], 42);
        }
    }

    void untimedMigrationsAreNotCopies() {
        const TemporaryFolder folder;
        {
            auto database = Database::create(folder / "trace");
            QVERIFY(database && createTraceTables(*database));
            const std::string sql = fmt::format(
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, contextId,"
                " streamId, globalPid, bytes, copyKind, srcKind, dstKind) VALUES"
                " (10, 20, 0, 1, 7, {0}, 4, 1, 1, 2), (30, 40, 0, 0, 0, {0}, 4, 12, 4, 4);"
                "INSERT INTO LANESCOPE_UNTIMED (tableName, globalPid, copyKind) VALUES"
                " ('CUPTI_ACTIVITY_KIND_MEMCPY', {0}, 11)",
                globalPid(4242));
            QVERIFY(database->execute(sql.c_str()));
        }
        const auto trace = loadTrace(folder / "trace");
        QVERIFY(trace);
        for (const EventCount& count : (*trace)->counts) {
            if (count.name == "memcpys") QCOMPARE(count.untimed, 0);
            if (count.name == "managed migrations") QCOMPARE(count.untimed, 1);
        }
        QVERIFY(std::ranges::any_of((*trace)->health, [](const HealthNote& note) {
            return note.sentence.find("1 of 2 managed migrations have no time") != std::string::npos;
        }));
    }
};

LANESCOPE_TEST(tst_MemoryReports, NoApplication)
#include "tst_MemoryReports.moc"
