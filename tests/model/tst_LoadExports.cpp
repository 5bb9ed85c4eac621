// SPDX-License-Identifier: Apache-2.0
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "model/reports/reports.h"
#include "tests/support/runTest.h"
#include "tests/support/sampleExports.h"

using namespace lanescope;

namespace {

/// Result of a query with one number; 0 if the file lacks the table or column.
int64_t ask(const Database& database, const std::string& sql) {
    auto statement = database.prepare(sql);
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? statement->integer(0) : 0;
}

template <class Column>
int64_t sum(const Column& column) {
    int64_t total = 0;
    for (const auto value : column) total += value;
    return total;
}

template <class Table>
int64_t busy(const Table& table) {
    return sum(table.endNs) - sum(table.startNs);
}

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
    "SELECT CASE copyKind WHEN 1 THEN '[CUDA memcpy Host-to-Device]' WHEN 2 THEN '[CUDA memcpy Device-to-Host]' WHEN 8 "
    "THEN '[CUDA memcpy Device-to-Device]' WHEN 10 THEN '[CUDA memcpy Peer-to-Peer]' WHEN 11 THEN '[CUDA memcpy "
    "Unified Host-to-Device]' WHEN 12 THEN '[CUDA memcpy Unified Device-to-Host]' ELSE 'other' END, COUNT(*), ";

}  // namespace

/// Tests on real exports of several Nsight Systems versions, each compared with plain SQL on the same file.
/// Tests on real Nsight Systems exports, which are not part of the project. The environment
/// variable LANESCOPE_TEST_DATA names the folder.
class tst_LoadExports : public QObject {
    Q_OBJECT

    static void addFiles() {
        QTest::addColumn<QString>("file");
        const auto files = sampleExports();
        if (files.empty()) QSKIP("LANESCOPE_TEST_DATA names no folder with exports.");
        for (const auto& file : files) QTest::newRow(file.filename().c_str()) << QString::fromStdString(file.string());
    }
    static TracePtr load(const QString& file) { return test::orFail(loadTrace(file.toStdString())); }

  private slots:
    void everyRowIsLoaded_data() { addFiles(); }
    void everyRowIsLoaded() {
        QFETCH(QString, file);
        const TracePtr trace = load(file);
        const auto database = test::orFail(Database::openReadOnly(file.toStdString()));
        const auto count = [&](const char* table) { return database.rowCount(table); };
        const auto busyNs = [&](const std::string& table) {
            return ask(database, "SELECT sum(\"end\" - start) FROM " + table);
        };
        QCOMPARE(int64_t{trace->kernels.size()}, count("CUPTI_ACTIVITY_KIND_KERNEL"));
        QCOMPARE(int64_t{trace->memcpys.size()}, count("CUPTI_ACTIVITY_KIND_MEMCPY"));
        QCOMPARE(int64_t{trace->memsets.size()}, count("CUPTI_ACTIVITY_KIND_MEMSET"));
        QCOMPARE(int64_t{trace->apiCalls.size()}, count("CUPTI_ACTIVITY_KIND_RUNTIME"));
        QCOMPARE(int64_t{trace->syncs.size()}, count("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"));
        QCOMPARE(int64_t{trace->nvtx.size()},
                 ask(database, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"));
        QCOMPARE(busy(trace->kernels), busyNs("CUPTI_ACTIVITY_KIND_KERNEL"));
        QCOMPARE(busy(trace->memcpys), busyNs("CUPTI_ACTIVITY_KIND_MEMCPY"));
        QCOMPARE(busy(trace->apiCalls), busyNs("CUPTI_ACTIVITY_KIND_RUNTIME"));
        QCOMPARE(sum(trace->memcpys.bytes), ask(database, "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY"));
        for (int kind = 0; kind < memcpyKindCount; ++kind) {
            const auto found =
                std::count(trace->memcpys.kind.begin(), trace->memcpys.kind.end(), static_cast<MemcpyKind>(kind));
            QCOMPARE(int64_t{found}, ask(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = " +
                                                       std::to_string(kind)));
        }
        for (const EventCount& each : trace->counts) QCOMPARE(each.untimed, int64_t{0});
    }

    void everyNameMatchesTheFile_data() { addFiles(); }
    void everyNameMatchesTheFile() {
        QFETCH(QString, file);
        const TracePtr trace = load(file);
        const auto database = Database::openReadOnly(file.toStdString());
        if (database->hasTable("CUPTI_ACTIVITY_KIND_KERNEL")) {
            std::map<std::string, int64_t> found;
            for (const uint32_t config : trace->kernels.config)
                ++found[std::string(trace->strings.at(trace->launchConfigs.demangledName(config)))];
            auto names =
                test::orFail(database->prepare("SELECT value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"
                                               " JOIN StringIds ON id = demangledName GROUP BY value"));
            size_t distinct = 0;
            for (; *names.step(); ++distinct) QCOMPARE(found[std::string(names.text(0))], names.integer(1));
            QCOMPARE(found.size(), distinct);
        }
        if (database->hasTable("NVTX_EVENTS")) {
            auto texts = test::orFail(
                database->prepare("SELECT coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId"
                                  " WHERE eventType IN (34, 59, 60) ORDER BY start, \"end\" - start DESC"));
            for (uint32_t row = 0; *texts.step(); ++row)
                QCOMPARE(trace->strings.at(trace->nvtx.text[row]), texts.text(0));
        }
    }

    void everySliceIsDrawn_data() { addFiles(); }
    void everySliceIsDrawn() {
        QFETCH(QString, file);
        const TracePtr trace = load(file);
        size_t work = 0, calls = 0;
        for (const Track& track : trace->tracks)
            for (const Lane& lane : track.lanes) {
                if (track.kind == TrackKind::Stream) work += lane.size();
                if (track.kind == TrackKind::ThreadApi) calls += lane.size();
                for (uint32_t i = 1; i < lane.size(); ++i) QVERIFY(lane.startNs[i] >= lane.endNs(i - 1));
            }
        // A graph recorded as a whole is also shown on its stream.
        QCOMPARE(work,
                 size_t{trace->kernels.size()} + trace->memcpys.size() + trace->memsets.size() + trace->graphs.size());
        QCOMPARE(calls, size_t{trace->apiCalls.size()});
    }

    void callsAndWorkAreLinked_data() { addFiles(); }
    void callsAndWorkAreLinked() {
        QFETCH(QString, file);
        const TracePtr trace = load(file);
        const auto database = Database::openReadOnly(file.toStdString());
        int64_t linked = 0;
        for (uint32_t row = 0; row < trace->kernels.size(); ++row)
            linked += trace->launchingCall(EventRef(EventKind::Kernel, row)).isValid() ? 1 : 0;
        QCOMPARE(linked, ask(*database,
                             "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId IN"
                             " (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME)"));
    }

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
        const TracePtr loaded = test::orFail(loadTrace(path));
        const Trace& trace = *loaded;

        QCOMPARE(byReport(trace, "cuda_gpu_kern_sum", 1, 2),
                 bySql(path,
                       "SELECT value, COUNT(*), SUM(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON "
                       "id = demangledName GROUP BY value"));

        std::string copies(operationSql);
        copies += "SUM(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind";
        Totals times = bySql(path, copies.c_str());
        times.merge(bySql(path,
                          "SELECT '[CUDA memset]', COUNT(*), SUM(\"end\" - start) FROM "
                          "CUPTI_ACTIVITY_KIND_MEMSET HAVING COUNT(*) > 0"));
        QCOMPARE(byReport(trace, "cuda_gpu_mem_time_sum", 1, 2), times);

        std::string bytes(operationSql);
        bytes += "SUM(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind";
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
        const Totals all = bySql(path, "SELECT 'all', COUNT(*), SUM(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME");
        const auto sum = all.empty() ? std::pair<int64_t, int64_t>{} : all.at("all");
        QCOMPARE(test::listed(calls, callNs), test::listed(sum.first, sum.second));
    }
};

LANESCOPE_TEST(tst_LoadExports, NoApplication)
#include "tst_LoadExports.moc"
