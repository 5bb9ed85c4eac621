// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include "capture/collector/TraceWriter.h"
#include "capture/collector/liveJournal.h"
#include "model/format/OutputFile.h"
#include "model/format/tables/Ranges.h"
#include "model/importers/TraceFormat.h"
#include "model/live/LiveTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

/// Adds a range on thread 7 of process 42.
void addRange(TraceWriter& trace, int64_t startNs, int64_t endNs, const char* text) {
    const int64_t tid = (int64_t{1} << 56) | (int64_t{1} << 48) | (int64_t{42} << 24) | 7;
    constexpr const auto& t = tables::nvtxEvents;
    trace.add(t, t.start = startNs, t.end = endNs, t.eventType = 59, t.globalTid = tid, t.textId = trace.intern(text),
              t.domainId = 0);
}

/// Another program that has the file open.
struct Reader {
    explicit Reader(const std::filesystem::path& path) {
        sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    }
    ~Reader() { sqlite3_close(database); }
    bool run(const char* sql) { return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
    sqlite3* database = nullptr;
};

int journalVersionOf(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(18);
    return stream.get();
}

}  // namespace

class tst_LiveJournal : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        path_ = *folder_ / "out.sqlite.partial";
        auto writer = test::orFail(TraceWriter::create(path_));
        writer_ = std::move(writer);
    }
    void cleanup() { writer_.reset(); }

    void committedRowsAreReadable() {
        addRange(*writer_, 1, 2, "one");
        Reader reader(path_);
        QVERIFY(reader.run("SELECT 1 FROM NVTX_EVENTS"));
        QVERIFY(writer_->commit().has_value());
        QCOMPARE(test::orFail(Database::openReadOnly(path_)).rowCount("NVTX_EVENTS"), int64_t(1));
    }

    void readerDoesNotBlockTheWriter() {
        Reader reader(path_);
        QVERIFY(reader.run("BEGIN; SELECT count(*) FROM NVTX_EVENTS"));
        for (int round = 0; round < 50; ++round) {
            for (int i = 0; i < 200; ++i) addRange(*writer_, i, i + 1, "range");
            QVERIFY(writer_->commit().has_value());
        }
        QVERIFY(reader.run("COMMIT"));
    }

    void lockedFileIsNotReadLive() {
        const std::filesystem::path path = *folder_ / "busy.sqlite";
        Result<Database> database = Database::create(path);
        QVERIFY(database && database->execute("CREATE TABLE t (a)"));
        QVERIFY(database->execute("PRAGMA locking_mode = NORMAL; SELECT count(*) FROM t"));
        Reader reader(path);
        QVERIFY(reader.run("BEGIN; SELECT count(*) FROM t"));
        QVERIFY(!beginLiveJournal(*database));
    }

    void finishedTraceIsOneFileWithoutLog() {
        for (int i = 0; i < 5000; ++i) addRange(*writer_, i, i + 1, "range");
        finish();
        QCOMPARE(journalVersionOf(path_), 1);
        for (const char* part : {"-wal", "-shm"}) QVERIFY2(!std::filesystem::exists(path_.string() + part), part);
        QCOMPARE(Database::openReadOnly(path_)->rowCount("NVTX_EVENTS"), int64_t(5000));
    }

    /// All rows of a killed recording may be in its log, which is then larger than the file.
    void rowsOfTheLogAreReadLikeThoseOfTheFile() {
        for (int i = 0; i < 10'000; ++i) addRange(*writer_, i, i + 1, "range");
        QVERIFY(writer_->commit().has_value());
        const std::filesystem::path killed = copyOfUnfinished();
        QVERIFY(std::filesystem::file_size(killed) < std::filesystem::file_size(killed.string() + "-wal"));
        const auto trace = test::orFail(loadTrace(killed));
        QCOMPARE(trace->nvtx.size(), 10'000u);
        for (const HealthNote& note : trace->health) QVERIFY(note.code != HealthCode::TableDamaged);
    }

    /// A killed writer may have copied only the first pages of its log to the file.
    void partlyCopiedLogIsReadWhole() {
        for (int i = 0; i < 10'000; ++i) addRange(*writer_, i, i + 1, "range");
        QVERIFY(writer_->commit().has_value());
        const std::filesystem::path killed = copyOfUnfinished();
        finish();
        std::string page(4096, '\0');
        std::ifstream(path_, std::ios::binary).read(page.data(), static_cast<std::streamsize>(page.size()));
        page[18] = page[19] = 2;  // still with a log
        std::fstream(killed, std::ios::binary | std::ios::in | std::ios::out) << page;
        QCOMPARE(test::orFail(loadTrace(killed))->nvtx.size(), 10'000u);
    }

    void traceWithoutJournalIsRefusedUntilItIsWhole() {
        const std::filesystem::path path = *folder_ / "alone.sqlite.partial";
        auto writer = test::orFail(TraceWriter::create(path, Journal::None));
        for (int i = 0; i < 1000; ++i) addRange(*writer, i, i + 1, "range");
        QVERIFY(writer->commit().has_value());
        const std::filesystem::path killed = *folder_ / "killed.sqlite.partial";
        std::filesystem::copy_file(path, killed);
        const auto trace = loadTrace(killed);
        QVERIFY(!trace.has_value());
        HAS(trace.error().sentence, "lanescope recover");
        auto mirror = TraceMirror::create(killed);
        QVERIFY(mirror && !mirror->refresh().has_value());
        std::string journal;
        QVERIFY(writer
                    ->finish([&](Database& database) {
                        auto mode = database.prepare("PRAGMA journal_mode");
                        if (mode && mode->step()) journal = mode->text(0);
                        QCOMPARE(test::orFail(loadTrace(path))->nvtx.size(), 1000u);
                    })
                    .has_value());
        QCOMPARE(journal, std::string("delete"));
        writer.reset();
        QCOMPARE((*loadTrace(path))->nvtx.size(), 1000u);
    }

    void finishWaitsForAReader() {
        Reader reader(path_);
        QVERIFY(reader.run("BEGIN; SELECT count(*) FROM NVTX_EVENTS"));
        addRange(*writer_, 1, 2, "after the reader's check");
        std::atomic<bool> hasLetGo = false;
        std::thread thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            hasLetGo = true;
            sqlite3_close(std::exchange(reader.database, nullptr));
        });
        const auto finished = writer_->finish();
        const bool hadLetGo = hasLetGo;
        thread.join();
        QVERIFY(finished.has_value());
        QVERIFY(hadLetGo);
    }

    void idleReaderDoesNotBlockFinishing() {
        Reader reader(path_);
        QVERIFY(reader.run("SELECT count(*) FROM NVTX_EVENTS"));
        for (int i = 0; i < 5000; ++i) addRange(*writer_, i, i + 1, "range");
        finish();
        QCOMPARE(journalVersionOf(path_), 1);
        QVERIFY(!std::filesystem::exists(path_.string() + "-wal"));
        const std::filesystem::path finished = *folder_ / "out.sqlite";
        std::filesystem::rename(path_, finished);
        QCOMPARE(Database::openReadOnly(finished)->rowCount("NVTX_EVENTS"), int64_t(5000));
    }

    void persistentReaderKeepsItsSnapshot() {
        Reader reader(path_);
        QVERIFY(reader.run("BEGIN; SELECT count(*) FROM NVTX_EVENTS"));
        for (int i = 0; i < 5000; ++i) addRange(*writer_, i, i + 1, "range");
        QVERIFY(writer_->finish().has_value());
        writer_.reset();
        QVERIFY(!settleJournal(path_));
        sqlite3_stmt* statement = nullptr;
        QCOMPARE(sqlite3_prepare_v2(reader.database, "SELECT count(*) FROM NVTX_EVENTS", -1, &statement, nullptr),
                 SQLITE_OK);
        QCOMPARE(sqlite3_step(statement), SQLITE_ROW);
        QCOMPARE(sqlite3_column_int64(statement, 0), sqlite3_int64(0));
        sqlite3_finalize(statement);
    }

    /// In a folder writable by others, they may create a link at any predictable name.
    void symlinksAreNotFollowed() {
        const std::filesystem::path victim = *folder_ / "victim";
        std::ofstream(victim) << "another file";
        const auto isUnharmed = [&] {
            std::ifstream file(victim);
            std::string text;
            std::getline(file, text);
            return text == "another file" && std::filesystem::file_size(victim) == text.size();
        };
        const std::filesystem::path other = *folder_ / "other.partial";
        std::filesystem::create_symlink(victim, other);
        QVERIFY(!TraceWriter::create(other));
        QVERIFY(!settleJournal(other));
        QVERIFY(!publishFile(other, *folder_ / "other.sqlite", IfExists::Replace));
        QVERIFY(isUnharmed());
        QVERIFY(!std::filesystem::exists(*folder_ / "other.sqlite"));
    }

    void unreadableFileKeepsItsLog() {
        writer_.reset();
        const std::filesystem::path log = path_.string() + "-wal";
        std::ofstream(path_, std::ios::trunc) << "short";
        std::ofstream(log) << "all of the trace";
        const Result<void> settled = settleJournal(path_);
        QVERIFY(!settled);
        HAS(settled.error().sentence, "cannot finish the trace");
        QVERIFY(std::filesystem::exists(log));
        std::filesystem::remove(log);
    }

    void mirrorReadsNewRows() {
        auto mirror = test::orFail(TraceMirror::create(path_));
        addRange(*writer_, 1, 2, "one");
        QVERIFY(writer_->commit().has_value());
        const auto first = test::orFail(mirror.refresh());
        QCOMPARE(first, int64_t(2));  // the range and its name
        QCOMPARE(*mirror.refresh(), int64_t(0));
        addRange(*writer_, 3, 4, "one");
        QCOMPARE(*mirror.refresh(), int64_t(0));
        QVERIFY(writer_->commit().has_value());
        QCOMPARE(*mirror.refresh(), int64_t(1));
    }

    void mirrorIsReadLikeATrace() {
        auto mirror = test::orFail(TraceMirror::create(path_));
        for (int i = 0; i < 1000; ++i) addRange(*writer_, i * 10, i * 10 + 5, "range");
        QVERIFY(writer_->commit().has_value());
        QVERIFY(mirror.refresh().has_value());
        const auto trace = test::orFail(loadOpenTrace(mirror.descriptor(), path_));
        QCOMPARE(test::listed(trace->nvtx.size(), trace->nameOf(EventRef(EventKind::Nvtx, 3))), "1000 | range");
        finish();
        const auto finished = test::orFail(loadTrace(path_));
        QCOMPARE(test::listed(finished->nvtx.size(), finished->range), test::listed(1000u, trace->range));
    }

    void mirrorPausesAtItsLimit() {
        auto mirror = TraceMirror::create(path_);
        for (int i = 0; i < 1000; ++i) addRange(*writer_, i * 10, i * 10 + 5, "range");
        QVERIFY(writer_->commit().has_value());
        int64_t all = 0;
        for (int64_t rows = 1; rows > 0;) {
            rows = *mirror->refresh(300);
            QVERIFY(rows <= 300);
            all += rows;
        }
        QCOMPARE(all, int64_t(1001));
    }

    void mirrorLetsTheWriterFinish() {
        auto mirror = TraceMirror::create(path_);
        addRange(*writer_, 1, 2, "one");
        QVERIFY(writer_->commit().has_value());
        QVERIFY(mirror->refresh().has_value());
        // Nothing of it is open, so the writer has the file exclusively.
        QVERIFY(writer_->finish().has_value());
        QCOMPARE(journalVersionOf(path_), 1);
        writer_.reset();
        QCOMPARE(Database::openReadOnly(path_)->rowCount("NVTX_EVENTS"), int64_t(1));
    }

    void mirrorReportsErrors() {
        auto missing = test::orFail(TraceMirror::create(*folder_ / "missing.partial"));
        QVERIFY(!missing.refresh().has_value());
        std::ofstream(*folder_ / "bad.partial")
            << "no database at all, but long enough to resemble one" << std::string(5000, 'x');
        auto bad = TraceMirror::create(*folder_ / "bad.partial");
        const auto rows = bad->refresh();
        QVERIFY(!rows.has_value() && rows.error().sentence.find("bad.partial") != std::string::npos);
    }

    void recordingStateIsReported() {
        const auto byPartial = liveTraceAt(path_);
        const auto byFinished = liveTraceAt(*folder_ / "out.sqlite");
        QVERIFY(byPartial && byFinished);
        QCOMPARE(byPartial->finished, *folder_ / "out.sqlite");
        QCOMPARE(byFinished->partial, path_);
        QVERIFY(!liveTraceAt(*folder_ / "other.sqlite"));
        QCOMPARE(stateOf(*byPartial), LiveState::Abandoned);
        finish();
        std::filesystem::rename(path_, *folder_ / "out.sqlite");
        QCOMPARE(stateOf(*byPartial), LiveState::Finished);
        QVERIFY(!liveTraceAt(*folder_ / "out.sqlite"));
    }

    void eventIsFoundAgain() {
        auto mirror = TraceMirror::create(path_);
        addRange(*writer_, 100, 200, "b");
        addRange(*writer_, 300, 400, "c");
        QVERIFY(writer_->commit().has_value());
        QVERIFY(mirror->refresh().has_value());
        const auto before = loadOpenTrace(mirror->descriptor(), path_);
        addRange(*writer_, 10, 20, "a");
        addRange(*writer_, 100, 200, "x");
        QVERIFY(writer_->commit().has_value());
        QVERIFY(mirror->refresh().has_value());
        const auto after = loadOpenTrace(mirror->descriptor(), path_);
        QVERIFY(before.has_value() && after.has_value());
        for (uint32_t row = 0; row < 2; ++row) {
            const EventRef event(EventKind::Nvtx, row), found = sameEvent(**before, event, **after);
            QCOMPARE((*after)->nameOf(found), (*before)->nameOf(event));
            QCOMPARE((*after)->rangeOf(found), (*before)->rangeOf(event));
        }
        QVERIFY(!sameEvent(**before, {}, **after).isValid());
        QVERIFY(!sameEvent(**after, EventRef(EventKind::Nvtx, 0), **before).isValid());
    }

  private:
    void finish() {
        const auto finished = writer_->finish();
        QVERIFY2(finished.has_value(), finished ? "" : finished.error().sentence.c_str());
        writer_.reset();
        QVERIFY(settleJournal(path_).has_value());
    }

    /// Copies the trace and its log as they are now, as a kill would leave them.
    std::filesystem::path copyOfUnfinished() const {
        const std::filesystem::path killed = *folder_ / "killed.sqlite.partial";
        for (const char* ending : {"", "-wal"})
            std::filesystem::copy_file(path_.string() + ending, killed.string() + ending);
        return killed;
    }

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path path_;
    std::unique_ptr<TraceWriter> writer_;
};

LANESCOPE_TEST(tst_LiveJournal, QCoreApplication)
#include "tst_LiveJournal.moc"
