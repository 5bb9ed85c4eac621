// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <ctime>

#include "model/format/GlobalId.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/TraceSource.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "tests/capture/byPath.h"
#include "tests/capture/simulatedEveryKind.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

const std::filesystem::path goldenFolder = LANESCOPE_SOURCE_DIR "/tests/golden";

/// The logs of one run of every_kind, and the trace collected from them.
struct Capture {
    std::filesystem::path logs;    ///< Folder of *.log, session.json and output.txt.
    std::filesystem::path golden;  ///< Folder of the reports.
    std::filesystem::path trace;
    std::map<std::string, int64_t> counts;  ///< As the program printed them.
    std::map<std::string, int64_t> bytes;
    std::map<std::string, double> speeds;  ///< GB/s.
    TracePtr loaded;
};

/// Rows of a query, cells joined by '|'; the error instead of the rows if it fails.
QStringList rowsOf(const Database& database, const std::string& sql) {
    auto statement = database.prepare(sql);
    if (!statement) return {QString::fromStdString(statement.error().sentence)};
    QStringList rows;
    for (auto step = statement->step(); step && *step; step = statement->step()) {
        QStringList cells;
        for (int column = 0; column < statement->columnCount(); ++column) {
            const std::string_view text = statement->text(column);
            cells << (statement->isNull(column) ? "NULL"
                                                : QString::fromUtf8(text.data(), static_cast<int>(text.size())));
        }
        rows << cells.join('|');
    }
    return rows;
}

Result<void> collect(const std::filesystem::path& logs, const std::filesystem::path& output,
                     std::optional<MainProcess> mainProcess) {
    const auto info = RunInfo::load(*Folder::open(logs), runInfoFileName);
    if (!info) return fail(info.error());
    auto collector = test::beginCollector(logs, output, *info);
    if (!collector) return fail(collector.error());
    const auto run = (*collector)->finish(mainProcess, true);
    if (!run) return fail(run.error());
    return {};
}

void readOutput(Capture& capture) {
    std::ifstream file(capture.logs / "output.txt");
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string what, kind;
        double value = 0;
        if (!(words >> what >> kind >> value)) continue;
        if (what == "count") capture.counts[kind] = static_cast<int64_t>(value);
        if (what == "bytes") capture.bytes[kind] = static_cast<int64_t>(value);
        if (what == "speed") capture.speeds[kind] = value;
    }
}

/// The program that `record` started, as stored in its trace.
std::optional<MainProcess> mainProcessOf(const Database& recorded) {
    auto statement =
        recorded.prepare("SELECT globalPid, exitStatus FROM LANESCOPE_PROCESSES WHERE exitStatus IS NOT NULL");
    if (!statement) return {};
    const auto row = statement->step();
    if (!row || !*row) return {};
    return MainProcess{processIdOf(statement->integer(0)), static_cast<int>(statement->integer(1)), 0};
}

/// Compresses a file as gzip does.
bool compress(const std::filesystem::path& from, const std::filesystem::path& to) {
    const std::string content = contentOf(from);
    const gzFile packed = gzopen(to.c_str(), "wb");
    if (packed == nullptr) return false;
    const auto bytes = static_cast<unsigned>(content.size());
    const bool isWritten = gzwrite(packed, content.data(), bytes) == static_cast<int>(bytes);
    return gzclose(packed) == Z_OK && isWritten;
}

Result<Database> openUnpacked(const std::filesystem::path& path) {
    const auto unpacked = unpackGzip(path, {}, {});
    if (!unpacked) return fail(unpacked.error());
    return Database::openReadOnly(unpacked->file.descriptor(), path);
}

}  // namespace

/// Tests with logs of tests/workloads/every_kind.cu, recorded on real GPUs, through the collector
/// and the loader; and with a simulated run of the same program.
class tst_GoldenCapture : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;
    std::map<QString, Capture> captures_;

    Capture* current() {
        QFETCH_GLOBAL(QString, capture);
        const auto found = captures_.find(capture);
        return found != captures_.end() ? &found->second : nullptr;
    }
    QStringList rows(const Capture& capture, const std::string& sql) {
        const auto database = Database::openReadOnly(capture.trace);
        return database ? rowsOf(*database, sql) : QStringList{QString::fromStdString(database.error().sentence)};
    }
    QString one(const Capture& capture, const std::string& sql) { return rows(capture, sql).join('\n'); }

    void addCapture(const QString& name, const std::filesystem::path& logs, const std::filesystem::path& golden,
                    const std::optional<MainProcess>& mainProcess) {
        Capture capture{.logs = logs, .golden = golden, .trace = folder_ / qPrintable(name + ".sqlite")};
        test::orFail(collect(logs, capture.trace, mainProcess));
        readOutput(capture);
        const auto loaded = test::orFail(loadTrace(capture.trace));
        capture.loaded = loaded;
        captures_[name] = std::move(capture);
    }

  private slots:
    void initTestCase_data() { test::rows<QString>("capture", {{"simulated", "simulated"}, {"recorded", "recorded"}}); }

    void initTestCase() {
        qputenv("TZ", "UTC");  // The trace also contains its wall-clock time.
        tzset();
        const auto simulated = folder_ / "simulated";
        std::filesystem::create_directories(simulated);
        test::writeSimulatedEveryKind(simulated);
        test::orFail(collect(simulated, folder_ / "first.sqlite", MainProcess{4242, 0, 0}));
        QVERIFY(compress(folder_ / "first.sqlite", simulated / "every-kind.sqlite.gz"));
        addCapture("simulated", simulated, goldenFolder / "every-kind-simulated", MainProcess{4242, 0, 0});
        const auto recorded = goldenFolder / "every-kind";
        if (!std::filesystem::exists(recorded / runInfoFileName)) return;
        const auto shipped = test::orFail(openUnpacked(recorded / "every-kind.sqlite.gz"));
        addCapture("recorded", recorded, recorded, mainProcessOf(shipped));
    }

    void init() {
        if (current() == nullptr)
            QSKIP(
                "tests/golden/every-kind holds no logs yet: record tests/workloads/every_kind.cu "
                "on two GPUs as the page in that folder says.");
    }

    void countsMatchTheProgramOutput() {
        Capture& c = *current();
        if (c.counts.empty()) QSKIP("There is no output.txt with what the program counted.");
        const auto expect = [&](const char* table, const char* condition, const std::vector<const char*>& kinds) {
            int64_t count = 0, bytes = 0;
            for (const char* kind : kinds) count += c.counts[kind], bytes += c.bytes[kind];
            const bool hasBytes = std::string_view(table) != "KERNEL";
            const auto sql =
                fmt::format("SELECT count(*), {} FROM CUPTI_ACTIVITY_KIND_{} WHERE start IS NOT NULL AND {}",
                            hasBytes ? "coalesce(sum(bytes), 0)" : "0", table, condition);
            // With the condition, so that a failure names it.
            return std::pair(QString("%1 %2").arg(condition, one(c, sql)),
                             QString("%1 %2|%3").arg(condition).arg(count).arg(bytes));
        };
        const std::tuple<const char*, const char*, std::vector<const char*>> kinds[] = {
            {"KERNEL", "1", {"kernel"}},
            {"KERNEL", "graphNodeId IS NOT NULL", {"kernel-in-graph"}},
            {"MEMCPY", "copyKind = 1 AND srcKind = 1", {"HtoD-pinned", "HtoD-graph"}},
            {"MEMCPY", "copyKind = 1 AND srcKind = 0", {"HtoD-pageable", "HtoD-symbol"}},
            {"MEMCPY", "copyKind = 2 AND dstKind = 1", {"DtoH-pinned", "DtoH-graph"}},
            {"MEMCPY", "copyKind = 2 AND dstKind = 0", {"DtoH-pageable"}},
            {"MEMCPY", "copyKind = 3", {"HtoA"}},
            {"MEMCPY", "copyKind = 4", {"AtoH"}},
            {"MEMCPY", "copyKind = 6", {"AtoD"}},
            {"MEMCPY", "copyKind = 8 AND srcKind = 2", {"DtoD", "DtoD-2D"}},
            {"MEMCPY", "copyKind = 9", {"HtoH-pinned"}},
            {"MEMCPY", "copyKind = 10", {"PtoP", "PtoP-back"}},
            {"MEMCPY", "srcKind = 4", {"managed"}},
            {"MEMSET", "memKind = 2", {"memset-device", "memset-graph"}},
            {"MEMSET", "memKind = 1", {"memset-pinned"}},
        };
        for (const auto& [table, condition, names] : kinds) {
            const auto [actual, expected] = expect(table, condition, names);
            QCOMPARE(actual, expected);
        }
        QCOMPARE(one(c, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start IS NULL"), "0");
    }

    void linksAllGpuWorkToItsCall() {
        const Trace& trace = *current()->loaded;
        const auto check = [&](EventKind kind, uint32_t size) {
            for (uint32_t row = 0; row < size; ++row) {
                const EventRef work(kind, row), call = trace.launchingCall(work);
                QVERIFY2(call.isValid(), trace.nameOf(work).c_str());
                QVERIFY2(trace.rangeOf(call).startNs <= trace.rangeOf(work).startNs, trace.nameOf(work).c_str());
            }
        };
        QVERIFY(trace.kernels.size() > 50);
        check(EventKind::Kernel, trace.kernels.size());
        check(EventKind::Memcpy, trace.memcpys.size());
        check(EventKind::Memset, trace.memsets.size());
    }

    void namesBothDevicesOfAPeerCopy() {
        Capture& c = *current();
        if (c.counts.count("PtoP") == 0) QSKIP("This machine had no two GPUs.");
        QCOMPARE(rows(c,
                      "SELECT srcDeviceId, dstDeviceId, count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY "
                      "WHERE copyKind = 10 GROUP BY srcDeviceId, dstDeviceId ORDER BY 1"),
                 QStringList({"0|1|5", "1|0|5"}));
        QCOMPARE(one(c,
                     "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind <> 10 "
                     "AND coalesce(srcDeviceId, dstDeviceId) IS NOT NULL"),
                 "0");
    }

    void distinguishesGraphNodes() {
        Capture& c = *current();
        for (const auto& [table, nodes] : {std::pair("KERNEL", 3), {"MEMCPY", 2}, {"MEMSET", 1}}) {
            const QStringList each =
                rows(c, fmt::format("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{} WHERE graphNodeId IS "
                                    "NOT NULL GROUP BY graphNodeId",
                                    table));
            QCOMPARE(each, QStringList(nodes, "2"));
        }
    }

    void nestsRanges() {
        const Trace& trace = *current()->loaded;
        const NvtxTable& nvtx = trace.nvtx;
        std::map<std::string_view, uint32_t> rowOf;
        for (uint32_t row = 0; row < nvtx.size(); ++row) {
            QVERIFY2(nvtx.isOpen[row] == 0, trace.strings.at(nvtx.text[row]).data());
            rowOf[trace.strings.at(nvtx.text[row])] = row;
        }
        uint16_t depth = 0;
        uint32_t around = noIndex;
        for (const char* name : {"outermost", "outer", "inner", "innermost"}) {
            QVERIFY2(rowOf.count(name) == 1, name);
            const uint32_t row = rowOf[name];
            QCOMPARE(nvtx.depth[row], depth++);
            QVERIFY(around == noIndex ||
                    (nvtx.startNs[around] <= nvtx.startNs[row] && nvtx.endNs[around] >= nvtx.endNs[row]));
            around = row;
        }
        QVERIFY(rowOf.count("wide \u00fcber \u0394") == 1);
        QCOMPARE(nvtx.depth[rowOf["HtoD-pinned"]], uint16_t{1});  // In "copies".
        Capture& c = *current();
        QCOMPARE(one(c, "SELECT count(*), max(endGlobalTid <> globalTid) FROM NVTX_EVENTS WHERE eventType = 60"),
                 "1|1");
        if (c.counts.empty()) QSKIP("There is no output.txt with what the program counted.");
        for (const auto& [type, name] : {std::pair(59, "nvtx-push-pop"), {60, "nvtx-start-end"}, {34, "nvtx-mark"}})
            QCOMPARE(one(c, fmt::format("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = {}", type)),
                     QString::number(c.counts[name]));
    }

    void keepsPayloads() {
        Capture& c = *current();
        const auto payload = [&](const char* column, const char* name) {
            return one(c, fmt::format("SELECT {} FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE eventType = "
                                      "34 AND coalesce(text, value) = '{}'",
                                      column, name));
        };
        // SQLite's integers are signed.
        QCOMPARE(payload("uint64Value", "uint64"), "-9223372036854775808");
        QCOMPARE(test::listed(payload("int64Value", "int64"), payload("doubleValue", "double")), "-5000000000 | 2.5");
        QCOMPARE(test::listed(payload("uint32Value", "uint32"), payload("int32Value", "int32")), "4000000000 | -7");
        QCOMPARE(payload("floatValue", "float"), "0.125");
        QCOMPARE(rows(c,
                      "SELECT int64Value FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE "
                      "coalesce(text, value) = 'registered step' ORDER BY start"),
                 QStringList({"0", "1", "2", "3"}));
    }

    void rangeNamesAreStoredInline() {
        Capture& c = *current();
        const std::string ranges =
            "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id = textId WHERE eventType IN (34, 59, 60) AND ";
        QVERIFY(one(c, ranges + "text = value").toInt() > 0);
        QCOMPARE(one(c, ranges + "text IS NOT value"), "0");
    }

    void keepsNamesAndColours() {
        const Trace& trace = *current()->loaded;
        std::set<std::string> threads;
        for (const Thread& thread : trace.threads) threads.insert(thread.name);
        for (const char* part : {"every_kind main", "every_kind worker"}) QVERIFY2(threads.count(part) == 1, part);
        int steps = 0;
        for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
            if (trace.strings.at(trace.nvtx.text[row]) == "worker's range")
                QCOMPARE(trace.nvtx.colorArgb[row], 0xFF2E8B57u);
            if (trace.strings.at(trace.nvtx.text[row]) != "registered step") continue;
            ++steps;
            QCOMPARE(trace.strings.at(trace.nvtx.domain[row]), std::string_view("every_kind"));
            QCOMPARE(trace.strings.at(trace.nvtx.category[row]), std::string_view("seventh category"));
            QCOMPARE(trace.nvtx.colorArgb[row], 0xFF4682B4u);
        }
        QCOMPARE(steps, 4);
    }

    void copySpeedsMatchTheProgramOutput() {
        Capture& c = *current();
        const std::tuple<const char*, const char*, const char*> kinds[] = {
            {"HtoD-pinned", "MEMCPY", "copyKind = 1 AND srcKind = 1"},
            {"HtoD-pageable", "MEMCPY", "copyKind = 1 AND srcKind = 0"},
            {"DtoH-pinned", "MEMCPY", "copyKind = 2 AND dstKind = 1"},
            {"DtoH-pageable", "MEMCPY", "copyKind = 2 AND dstKind = 0"},
            {"DtoD", "MEMCPY", "copyKind = 8 AND srcKind = 2"},
            {"HtoH-pinned", "MEMCPY", "copyKind = 9"},
            {"managed", "MEMCPY", "srcKind = 4"},
            {"PtoP", "MEMCPY", "copyKind = 10 AND srcDeviceId = 0"},
            {"PtoP-back", "MEMCPY", "copyKind = 10 AND srcDeviceId = 1"},
            {"memset-device", "MEMSET", "memKind = 2"},
        };
        for (const auto& [kind, table, condition] : kinds) {
            if (c.speeds.count(kind) == 0) continue;
            const QStringList ends = rows(c, fmt::format("SELECT \"end\" FROM CUPTI_ACTIVITY_KIND_{} WHERE "
                                                         "bytes = 33554432 AND {} ORDER BY start",
                                                         table, condition));
            QCOMPARE(ends.size(), 5);
            // As in the program: from the end of the first to the end of the last, gaps included.
            const double speed = 4 * 33554432.0 / (ends.last().toDouble() - ends[0].toDouble());
            QVERIFY2(std::abs(speed / c.speeds[kind] - 1) < 0.05,
                     qPrintable(QString("%1: trace %2, program %3 GB/s").arg(kind).arg(speed).arg(c.speeds[kind])));
        }
    }

    void collectedTraceEqualsTheRecordedOne() {
        const Capture& c = *current();
        const auto shipped = c.logs / "every-kind.sqlite.gz";
        if (!std::filesystem::exists(shipped)) QSKIP("No trace came with these logs.");
        const auto recorded = openUnpacked(shipped);
        const auto collected = Database::openReadOnly(c.trace);
        QVERIFY2(recorded, recorded ? "" : recorded.error().sentence.c_str());
        QVERIFY(collected);
        for (const std::string& table : recorded->tables()) {
            if (table.starts_with("ENUM_") || table.starts_with("sqlite_")) continue;
            // By the columns of the older file: later versions may add some.
            const auto statement = test::orFail(recorded->prepare(fmt::format("SELECT * FROM \"{}\"", table)));
            std::string columns, named;
            for (int i = 0; i < statement.columnCount(); ++i) {
                const auto column = fmt::format("{}\"{}\"", i > 0 ? ", " : "", statement.columnName(i));
                columns += column;
                // At that time, only StringIds contained the name of a range.
                const bool isName = table == "NVTX_EVENTS" && statement.columnName(i) == "text";
                named += isName ? ", coalesce(\"text\", (SELECT value FROM StringIds WHERE id = textId))" : column;
            }
            const bool namesVersion = table == "META_DATA_EXPORT";
            const auto from =
                fmt::format(" FROM \"{}\"{}", table,
                            namesVersion ? " WHERE name LIKE 'EXPORT%' AND name NOT LIKE '%VERSION%'" : "");
            const QStringList expected = rowsOf(*recorded, "SELECT " + named + from);
            // That version skipped empty tables.
            if (expected.isEmpty() && !collected->hasTable(table)) continue;
            const QStringList actual = rowsOf(*collected, "SELECT " + columns + from);
            for (int i = 0; i < std::min(expected.size(), actual.size()); ++i)
                QVERIFY2(actual[i] == expected[i], qPrintable(QString("%1, row %2:\n  recorded  %3\n  collected %4")
                                                                  .arg(table.c_str())
                                                                  .arg(i + 1)
                                                                  .arg(expected[i], actual[i])));
            // It also skipped unnamed threads.
            const bool hasMore = table == "StringIds" || table == "ThreadNames";
            if (hasMore && actual.size() == expected.size() + 1) continue;
            QCOMPARE(QString("%1: %2 rows").arg(table.c_str()).arg(actual.size()),
                     QString("%1: %2 rows").arg(table.c_str()).arg(expected.size()));
        }
    }

    void reportsMatchTheGoldenFiles() {
        const Capture& c = *current();
        const bool isUpdate = qEnvironmentVariableIntValue("LANESCOPE_UPDATE_GOLDEN") != 0;
        for (const Report* report : allReports()) {
            const ReportInfo& info = report->info;
            const auto table = test::orFail(makeReport(*c.loaded, info.name));
            const QByteArray actual = QByteArray::fromStdString(formatTable(table, TableFormat::Csv));
            const QString name =
                QString::fromStdString((c.golden / std::string(info.name)).string()).replace(':', '-') + ".csv";
            QFile file(name);
            if (isUpdate) {
                std::filesystem::create_directories(c.golden);
                QVERIFY(file.open(QIODevice::WriteOnly));
                file.write(actual);
                continue;
            }
            QVERIFY2(file.open(QIODevice::ReadOnly),
                     qPrintable(name + " is missing: run the test once with "
                                       "LANESCOPE_UPDATE_GOLDEN=1 and read what it wrote."));
            const QList<QByteArray> expectedLines = file.readAll().split('\n'), lines = actual.split('\n');
            for (int i = 0; i < std::min(lines.size(), expectedLines.size()); ++i)
                QVERIFY2(lines[i] == expectedLines[i],
                         qPrintable(QString("%1, line %2:\n  golden  %3\n  printed %4")
                                        .arg(name)
                                        .arg(i + 1)
                                        .arg(expectedLines[i].constData(), lines[i].constData())));
            QCOMPARE(lines.size(), expectedLines.size());
        }
    }
};

LANESCOPE_TEST(tst_GoldenCapture, QCoreApplication)
#include "tst_GoldenCapture.moc"
