// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/tables/Schema.h"
#include "model/reports/reports.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/files.h"
#include "tests/support/loadWithinBounds.h"
#include "tests/support/notes.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr int64_t tid = globalTid(4242, 4242);

}  // namespace

/// Tests of files built to cost more than their size: each opens in time and memory proportional to its size.
class tst_HostileTraces : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        path_ = *folder_ / "run.sqlite";
    }

    /// Rows with almost no content, so that as many as possible fit into the file.
    void shortRowsTakeBoundedTimeAndMemory_data() {
        QTest::addColumn<QString>("sql");
        const auto row = [](const char* name, const char* columns, const char* values) {
            QTest::newRow(name) << QString(
                                       "PRAGMA page_size = 65536; CREATE TABLE %1 (%2);"
                                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                       " LIMIT 400000) INSERT INTO %1 SELECT %3 FROM n")
                                       .arg(name, columns, values);
        };
        row("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId", "1, 1, 0");
        row("CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, bytes", "1, 1, 0, 1");
        row("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid", "1, 1, 16777217");
        row("NVTX_EVENTS", "start, end, eventType, globalTid", "1, 1, 59, 16777217");
    }
    void shortRowsTakeBoundedTimeAndMemory() {
        QFETCH(QString, sql);
        write(sql.toStdString());
        QVERIFY(load().has_value());
    }

    void computedColumnsAreNotRead() {
        // Doubling texts: the last would have 200 MB, in a file of some kilobytes.
        std::string sql = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, seed TEXT", before = "seed";
        for (int i = 0; i < 21; ++i) {
            const std::string name = i < 20 ? fmt::format("g{}", i) : "value";
            sql += fmt::format(", {} TEXT AS ({}||{})", name, before, before);
            before = name;
        }
        sql +=
            ");INSERT INTO StringIds (id, seed) VALUES (0, hex(zeroblob(50)));"
            "INSERT INTO StringIds (id, seed) SELECT id + 1, seed FROM StringIds";
        write(sql);
        const auto trace = test::orFail(load());
        const auto database = Database::openReadOnly(path_);
        QVERIFY(database && database->hasColumn("StringIds", "SEED"));
        QVERIFY(!database->hasColumn("StringIds", "value"));
        for (uint32_t i = 0; i < trace->strings.size(); ++i) QVERIFY(trace->strings.at(i).size() < 200);
    }

    void sharedTextsAreReadOnce() {
        write(
            fmt::format("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
                        " INSERT INTO NVTX_EVENTS SELECT i, i + 1, 59, {} FROM n;"
                        "ALTER TABLE NVTX_EVENTS ADD COLUMN text TEXT DEFAULT '{}'",
                        tid, std::string(450'000, 'x')));
        test::CpuTimer timer;
        const auto trace = load();
        QVERIFY(timer.elapsed() < 5000);
        QVERIFY(trace.has_value());
        QVERIFY(hasNote(**trace, HealthCode::TableDamaged));
    }

    void rowsSharingOverflowPagesAreReadOnce() {
        constexpr int rows = 6;
        // A size that leaves so little in the leaf that the leaf contains all rows.
        constexpr size_t textBytes = 489 + 293 * 4092 + 31;
        write(
            fmt::format("PRAGMA page_size = 4096;"
                        "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
                        " globalTid INTEGER, text TEXT);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) INSERT INTO"
                        " NVTX_EVENTS SELECT i, i + 1, 59, {}, hex(zeroblob({})) FROM n",
                        rows, tid, textBytes / 2));
        const size_t before = std::filesystem::file_size(path_);
        shareFirstChain();
        QVERIFY(std::filesystem::file_size(path_) < before / 4);
        const auto trace = test::orFail(load());
        QVERIFY(hasNote(*trace, HealthCode::TableDamaged));
        QVERIFY(trace->nvtx.size() < rows);
    }

    void longTextDoesNotSlowOtherRows() {
        write(
            fmt::format("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER,"
                        " globalTid INTEGER, text TEXT);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 8000) INSERT INTO"
                        " NVTX_EVENTS SELECT i, i + 1, 59, {}, 'step' FROM n;"
                        "UPDATE NVTX_EVENTS SET text = hex(zeroblob(9000000)) WHERE start = 4",
                        tid));
        const auto trace = test::orFail(load());
        QCOMPARE(trace->nvtx.size(), 8000u);
        QVERIFY(!hasNote(*trace, HealthCode::TableDamaged));
        // Every event can still be drawn, searched and exported by name.
        for (uint32_t i = 0; i < trace->strings.size(); ++i)
            QVERIFY(trace->strings.at(i).size() <= TraceBuilder::maxNameBytes);
    }

    void truncatedLongNamesStayDistinct() {
        TraceBuilder builder;
        const std::string common(100'000, 'a');
        std::set<StringIndex> names;
        for (const char* end : {"", "b", "c", "bb"}) names.insert(builder.intern(common + end));
        QCOMPARE(names.size(), size_t{4});
        QVERIFY(builder.intern(common + "b") == *std::next(names.begin()));
        const std::string fits(TraceBuilder::maxNameBytes, 'a');
        QCOMPARE(builder.text(builder.intern(fits)), std::string_view(fits));
        std::string wide;
        while (wide.size() < 3 * TraceBuilder::maxNameBytes) wide += "\xe2\x82\xac";
        const std::string_view shown = builder.text(builder.intern(wide));
        QVERIFY(shown.find("...") % 3 == 0);
    }

    void collidingIdsDoNotSlowTheReader() {
        // A bucket count that the standard library's tables reach as they grow: without a mixed hash, all ids collide.
        std::unordered_map<int64_t, int> like;
        constexpr int64_t count = 60'000;
        while (like.size() < count) like.emplace(like.size(), 0);
        const auto step = static_cast<int64_t>(like.bucket_count());
        write(
            fmt::format("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                        " LIMIT {}) INSERT INTO StringIds SELECT {} * (i + 10000000), i FROM n",
                        count, step));
        test::CpuTimer timer;
        QVERIFY(load().has_value());
        QVERIFY2(timer.elapsed() < 4000, qPrintable(QString::number(timer.elapsed())));
    }

    void collidingTextsDoNotSlowTheReader() {
        // Texts with one hash in the standard library: two blocks of each pair differ so that the
        // second reverts the first's change of the hash.
        constexpr uint64_t factor = 0xc6a4a7935bd1e995u;
        const auto mix = [](uint64_t block) {
            block *= factor;
            return (block ^ block >> 47) * factor;
        };
        uint64_t inverse = 1;
        for (int round = 0; round < 6; ++round) inverse *= 2 - factor * inverse;
        const auto unmix = [inverse](uint64_t mixedBlock) {
            mixedBlock *= inverse;
            return (mixedBlock ^ mixedBlock >> 47) * inverse;
        };
        constexpr int pairs = 14;
        std::vector<std::string> texts;
        for (uint64_t choice = 0; choice < uint64_t{1} << pairs; ++choice) {
            std::string& text = texts.emplace_back();
            for (uint64_t pair = 0; pair < pairs; ++pair) {
                uint64_t block = pair + 1;
                if ((choice >> pair & 1) != 0) block = unmix(mix(block) ^ uint64_t{1} << 63);
                for (int twice = 0; twice < 2; ++twice)
                    text.append(reinterpret_cast<const char*>(&block), sizeof block);
            }
        }
        const std::hash<std::string_view> standardHash;
        QCOMPARE(standardHash(texts.front()), standardHash(texts.back()));
        test::CpuTimer timer;
        StringTable strings;
        for (const std::string& text : texts) strings.intern(text);
        QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(strings.size(), static_cast<uint32_t>(texts.size()) + 1);
    }

    void leftoverJournalIsReported() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        {
            auto database = openForWriting(path_);
            // So little cache that pages are written before the transaction ends.
            QVERIFY(database && database->execute("PRAGMA cache_size = 2; BEGIN;"
                                                  "UPDATE StringIds SET value = value || 'x';"
                                                  "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 1;"
                                                  "UPDATE NVTX_EVENTS SET start = 1"));
            std::filesystem::copy_file(path_, *folder_ / "copy");
            std::filesystem::copy_file(path_.string() + "-journal", *folder_ / "copy-journal");
        }
        const auto trace = loadTrace(*folder_ / "copy");
        QVERIFY(!trace);
        HAS(trace.error().sentence, "left a journal");
    }

    void writeAheadLogLeavesNoFiles() {
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), path_).has_value());
        {
            auto database = openForWriting(path_);
            QVERIFY(database && database->execute("PRAGMA locking_mode = NORMAL;"
                                                  "PRAGMA journal_mode = WAL;"
                                                  "CREATE TABLE more (a)"));
            // A copy without the index of the log.
            std::filesystem::copy_file(path_, *folder_ / "copy");
            std::filesystem::copy_file(path_.string() + "-wal", *folder_ / "copy-wal");
        }
        const auto rows = Database::openReadOnly(*folder_ / "copy");
        QVERIFY(rows && rows->hasTable("more"));
        QVERIFY(loadTrace(*folder_ / "copy").has_value());
        QVERIFY(!std::filesystem::exists(*folder_ / "copy-shm"));
        std::filesystem::remove(path_.string() + "-wal");
        std::filesystem::remove(path_.string() + "-shm");
        QVERIFY(loadTrace(path_).has_value());
        QVERIFY(!std::filesystem::exists(path_.string() + "-shm"));
    }

  private:
    Result<TracePtr> load() const { return test::loadWithinBounds(path_); }

    /// For a table whose only leaf is page 2: gives all rows the overflow pages of the first, and
    /// cuts off those of the others, as in SQLite's file format.
    void shareFirstChain() {
        constexpr size_t page = 4096, leaf = page, firstPointer = leaf + 8;
        std::string bytes = contentOf(path_);
        const auto byteAt = [&bytes](size_t at) { return static_cast<uint8_t>(bytes[at]); };
        const auto varint = [&](size_t& at) {
            uint64_t value = 0;
            do value = value << 7 | (byteAt(at) & 0x7f);
            while ((byteAt(at++) & 0x80) != 0);
            return value;
        };
        const auto number = [&](size_t at) {
            return uint32_t{byteAt(at)} << 24 | uint32_t{byteAt(at + 1)} << 16 | uint32_t{byteAt(at + 2)} << 8 |
                   byteAt(at + 3);
        };
        QCOMPARE(byteAt(leaf), uint8_t{0x0d});
        const size_t cells = size_t{byteAt(leaf + 3)} << 8 | byteAt(leaf + 4);
        std::string chain;
        for (size_t cell = 0; cell < cells; ++cell) {
            const size_t pointer = firstPointer + 2 * cell;
            size_t at = leaf + (size_t{byteAt(pointer)} << 8 | byteAt(pointer + 1));
            const uint64_t payload = varint(at);
            varint(at);  // the row number
            constexpr uint64_t least = (page - 12) * 32 / 255 - 23, most = page - 35;
            const uint64_t local = least + (payload - least) % (page - 4);
            at += static_cast<size_t>(local <= most ? local : least);
            if (cell == 0) chain = bytes.substr(at, 4);
            bytes.replace(at, 4, chain);
        }
        // The chain occupies consecutive pages.
        uint32_t last = 0;
        for (uint32_t next = uint32_t{static_cast<uint8_t>(chain[2])} << 8 | static_cast<uint8_t>(chain[3]); next != 0;
             next = number((next - 1) * page))
            last = std::max(last, next);
        bytes.resize(last * page);
        for (int part = 0; part < 4; ++part)
            bytes[28 + static_cast<size_t>(part)] = static_cast<char>(last >> (24 - 8 * part));
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    }

    /// Writes a file with a table that makes it an export, and these rows.
    void write(const std::string& sql) {
        auto database = test::orFail(Database::create(path_));
        const auto done =
            database.execute((sql + ";CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER)").c_str());
        QVERIFY2(done.has_value(), done ? "" : done.error().sentence.c_str());
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_;
};

LANESCOPE_TEST(tst_HostileTraces, NoApplication)
#include "tst_HostileTraces.moc"
