// SPDX-License-Identifier: Apache-2.0
#include "model/format/Sqlite.h"
#include "model/importers/loadTrace.h"
#include "model/reports/reports.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

using Totals = std::map<std::string, std::pair<int64_t, int64_t>>;  // name -> count, total

/// Expected values by SQL: rows of (name, count, total).
Totals bySql(const std::filesystem::path& path, const char* sql) {
    Totals totals;
    const Result<Database> database = Database::openReadOnly(path);
    if (!database) return totals;
    Result<Statement> statement = database->prepare(sql);
    if (!statement) return totals;  // the export has no such table
    while (statement->step().value_or(false))
        totals[std::string(statement->text(0))] = {statement->integer(1), statement->integer(2)};
    return totals;
}

/// The same values from a report; `total` and `count` are its columns.
Totals byReport(const Trace& trace, std::string_view name, size_t total, size_t count) {
    Totals totals;
    const Result<ReportTable> table = makeReport(trace, name);
    if (!table) return totals;
    for (const std::vector<Cell>& row : table->rows)
        totals[std::get<std::string>(row.back())] = {std::get<int64_t>(row[count]), std::get<int64_t>(row[total])};
    return totals;
}

constexpr const char* operationSql =
    "SELECT CASE copyKind WHEN 1 THEN '[CUDA memcpy Host-to-Device]' "
    "WHEN 2 THEN '[CUDA memcpy Device-to-Host]' WHEN 8 THEN '[CUDA memcpy Device-to-Device]' "
    "WHEN 10 THEN '[CUDA memcpy Peer-to-Peer]' WHEN 11 THEN '[CUDA memcpy Unified Host-to-Device]' "
    "WHEN 12 THEN '[CUDA memcpy Unified Device-to-Host]' ELSE 'other' END, COUNT(*), ";

}  // namespace

/// Tests on real Nsight Systems exports, which are not part of the project. The environment
/// variable LANESCOPE_TEST_DATA names the folder.
class TestNsightExports : public QObject {
    Q_OBJECT

  private slots:
    void reportSumsMatchSqlToTheNanosecond_data() {
        QTest::addColumn<QString>("file");
        const QString folder = qEnvironmentVariable("LANESCOPE_TEST_DATA");
        if (folder.isEmpty()) QSKIP("LANESCOPE_TEST_DATA names no folder of Nsight exports.");
        const QDir exports(QDir(folder).filePath("nsys-exports"));
        const QFileInfoList files = exports.entryInfoList({"*.sqlite"}, QDir::Files);
        if (files.isEmpty()) QSKIP("LANESCOPE_TEST_DATA holds no nsys-exports/*.sqlite.");
        for (const QFileInfo& file : files) QTest::newRow(qPrintable(file.fileName())) << file.absoluteFilePath();
    }

    void reportSumsMatchSqlToTheNanosecond() {
        QFETCH(QString, file);
        const std::filesystem::path path = file.toStdString();
        const Result<TracePtr> loaded = loadTrace(path);
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().sentence.c_str());
        const Trace& trace = **loaded;

        QCOMPARE(byReport(trace, "cuda_gpu_kern_sum", 1, 2),
                 bySql(path,
                       "SELECT value, COUNT(*), SUM(\"end\" - start) FROM "
                       "CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName "
                       "GROUP BY value"));

        const std::string copies =
            std::string(operationSql) + "SUM(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind";
        Totals times = bySql(path, copies.c_str());
        times.merge(bySql(path,
                          "SELECT '[CUDA memset]', COUNT(*), SUM(\"end\" - start) FROM "
                          "CUPTI_ACTIVITY_KIND_MEMSET HAVING COUNT(*) > 0"));
        QCOMPARE(byReport(trace, "cuda_gpu_mem_time_sum", 1, 2), times);

        const std::string bytes =
            std::string(operationSql) + "SUM(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind";
        Totals sizes = bySql(path, bytes.c_str());
        sizes.merge(bySql(path,
                          "SELECT '[CUDA memset]', COUNT(*), SUM(bytes) FROM "
                          "CUPTI_ACTIVITY_KIND_MEMSET HAVING COUNT(*) > 0"));
        QCOMPARE(byReport(trace, "cuda_gpu_mem_size_sum", 0, 1), sizes);

        int64_t calls = 0, callNs = 0;
        for (const auto& [name, total] : byReport(trace, "cuda_api_sum", 1, 2)) {
            calls += total.first;
            callNs += total.second;
        }
        const Totals all = bySql(path,
                                 "SELECT 'all', COUNT(*), SUM(\"end\" - start) FROM "
                                 "CUPTI_ACTIVITY_KIND_RUNTIME");
        const auto sum = all.empty() ? std::pair<int64_t, int64_t>{} : all.at("all");
        QCOMPARE(calls, sum.first);
        QCOMPARE(callNs, sum.second);
    }
};

LANESCOPE_TEST(TestNsightExports, NoApplication)
#include "tst_NsightExports.moc"
