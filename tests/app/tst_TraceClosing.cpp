// SPDX-License-Identifier: Apache-2.0
#include "app/cli/TraceClosing.h"

#include "model/analysis/storedSummary.h"
#include "model/assemble/TraceBuilder.h"
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::cli;
using namespace lanescope::analysis;

/// Tests that one load of a new trace gives its summary and its index, or leaves the trace unchanged.
class tst_TraceClosing : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        folder_.emplace();
        // Large enough for an index.
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 100}), unfinished()));
        QVERIFY(std::filesystem::file_size(unfinished()) > OpenOptions().minBytes);
    }

    void oneLoadGivesSummaryAndIndex() {
        static int loads;
        loads = 0;
        TraceFormat counted = lanescopeFormat;
        counted.read = [](TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
            ++loads;
            return lanescopeFormat.read(source, builder, progress);
        };
        const TraceFormat* const formats[]{&counted};
        double last = 0;
        bool isForward = true;
        const auto progress = [&](double fraction, std::string_view) {
            isForward = isForward && fraction >= last;
            last = fraction;
            return true;
        };
        TraceClosing closing(progress, {.formats = formats});
        close(closing);
        QVERIFY(isForward);
        QCOMPARE(loads, 1);
        QVERIFY(last <= 1);
        std::filesystem::rename(unfinished(), trace());

        const std::optional<RunSummary> stored = readRunSummary(trace());
        QVERIFY(stored.has_value());
        const TracePtr loaded = test::orFail(loadTrace(trace()));
        const Result<RunSummary> made = summarizeRun(*loaded);
        QVERIFY(made.has_value() && !made->isEmpty());
        QVERIFY(*stored == *made);

        const TracePtr opened = test::orFail(openTrace(trace(), OpenOptions{.mayWrite = false}));
        QVERIFY(opened->backing != nullptr);  // by the index
        QCOMPARE(opened->title, std::string("run.sqlite"));
        QCOMPARE(opened->kernels.size(), loaded->kernels.size());
    }

    void checkReportsIfATraceIsUnchanged() {
        TraceClosing closing({});
        close(closing);
        std::filesystem::rename(unfinished(), trace());
        QByteArray said;
        QCOMPARE(checked(said), 0);
        QVERIFY2(said.contains("pages are unchanged"), said.constData());
        QVERIFY2(said.contains("lanescope-index is intact"), said.constData());
        QVERIFY(!said.contains("BAD"));
        flipBitOf(indexPaths(trace()).front());
        QCOMPARE(checked(said), 1);
        QVERIFY2(said.contains("BAD  The index"), said.constData());
        flipBitOf(trace());
        QCOMPARE(checked(said), 1);
        QVERIFY2(said.contains("BAD  The file is corrupt: 1 of the pages"), said.constData());
        {
            Result<Database> database = openForWriting(trace());
            QVERIFY(database && database->execute("DELETE FROM NVTX_EVENTS WHERE rowid < 10"));
        }
        QCOMPARE(checked(said), 1);
        QVERIFY2(said.contains("BAD  Another program modified the trace"), said.constData());
    }

    void storingTwiceEqualsStoringOnce() {
        TraceClosing closing({});
        close(closing);
        const std::optional<RunSummary> once = readRunSummary(unfinished());
        close(closing);
        QVERIFY(once && readRunSummary(unfinished()) == once);
    }

    void separateSummaryEqualsTheStoredOne() {
        TraceClosing closing({});
        close(closing);
        // In a folder without a stored summary, so that the trace must be read.
        std::filesystem::create_directory(*folder_ / "made");
        TraceClosing later({});
        QVERIFY(later.writeSummary(unfinished(), trace(), *folder_ / "made").has_value());
        const std::filesystem::path made = *folder_ / "made" / "run.lanescope-summary";
        const Result<Database> own = Database::openReadOnly(made), stored = Database::openReadOnly(unfinished());
        QVERIFY(own.has_value() && stored.has_value());
        for (const tables::Table* table : tables::storedTables()) {
            QVERIFY2(own->rowCount(table->tableName()) == stored->rowCount(table->tableName()), table->tableName());
        }
        QVERIFY(stored->rowCount("LANESCOPE_STORED_KERNELS") > 0);
        QVERIFY(!later.writeSummary(unfinished(), trace(), *folder_ / "nowhere").has_value());
    }

    void cancellingKeepsTheTrace() {
        for (const double cancelledAt : {0.0, 0.5, 0.8, 0.9}) {
            TraceClosing closing([cancelledAt](double fraction, std::string_view) { return fraction < cancelledAt; });
            Result<Database> database = openForWriting(unfinished());
            QVERIFY(database.has_value());
            const bool isStored = closing.storeSummary(*database).has_value();
            database = fail("closed");
            QVERIFY(isStored == (cancelledAt > 0.85));
            QVERIFY(!closing.writeIndex(unfinished(), trace()));
            QVERIFY(!std::filesystem::exists(indexPaths(trace()).front()));
            QVERIFY(loadTrace(unfinished()).has_value());
        }
    }

    void otherFileStaysUnchanged() {
        Database database = test::orFail(Database::create(*folder_ / "none.sqlite"));
        TraceClosing closing({});
        QVERIFY(!closing.storeSummary(database));
        QCOMPARE(database.tables().size(), size_t{0});
    }

    void runWithoutGpuWorkHasNothingToStore() {
        TraceBuilder nothing;
        QVERIFY(nothing.finish());
        QVERIFY(writeTraceFile(*nothing.take(), *folder_ / "empty.sqlite"));
        Database database = test::orFail(openForWriting(*folder_ / "empty.sqlite"));
        TraceClosing closing({});
        QVERIFY(closing.storeSummary(database).has_value());
        QVERIFY(!database.hasTable("LANESCOPE_STORED"));
    }

    /// A comparison opens a trace by its index, and creates it, only if it needs events.
    void comparisonReadsNoEventsOfSummarizedTraces() {
        TraceClosing closing({});
        close(closing);
        std::filesystem::remove(indexPaths(trace()).front());
        std::filesystem::copy_file(unfinished(), *folder_ / "a.sqlite");
        std::filesystem::copy_file(unfinished(), *folder_ / "b.sqlite");
        const QByteArray stored = compared();
        QVERIFY(stored.contains("\"steps\""));
        QVERIFY(!std::filesystem::exists(indexPaths(*folder_ / "a.sqlite").front()));
        {
            Result<Database> database = openForWriting(*folder_ / "a.sqlite");
            QVERIFY(database && database->execute("DROP TABLE LANESCOPE_STORED"));
        }
        // Hides the change: a write by another program would be reported.
        QVERIFY(sealPages(*folder_ / "a.sqlite"));
        QCOMPARE(compared(), stored);
        QVERIFY(std::filesystem::exists(indexPaths(*folder_ / "a.sqlite").front()));
        QVERIFY(!std::filesystem::exists(indexPaths(*folder_ / "b.sqlite").front()));
        QCOMPARE(compared(), stored);
    }

  private:
    std::filesystem::path trace() const { return *folder_ / "run.sqlite"; }
    std::filesystem::path unfinished() const { return *folder_ / "run.sqlite.partial"; }

    void close(TraceClosing& closing) {
        {
            Database database = test::orFail(openForWriting(unfinished()));
            QVERIFY(database.execute("PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema"));
            test::orFail(closing.storeSummary(database));
        }
        QVERIFY(sealPages(unfinished()).has_value());
        test::orFail(closing.writeIndex(unfinished(), trace()));
    }

    /// Flips a bit in the middle of a file.
    static void flipBitOf(const std::filesystem::path& path) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
        file.seekg(middle);
        const int byte = file.get();
        file.seekp(middle);
        file.put(static_cast<char>(byte ^ 4));
    }

    /// The status of `lanescope check`.
    int checked(QByteArray& said) const {
        const test::Ended ended = test::runLanescope({"check", QString::fromStdString(trace().string())});
        said = ended.out;
        return ended.status;
    }

    QByteArray compared() const {
        const QString folder = QString::fromStdString(folder_->path().string());
        return test::runLanescope({"compare", "--format", "json", "a.sqlite", "b.sqlite"}, folder).out;
    }

    std::optional<TemporaryFolder> folder_;
};

LANESCOPE_TEST(tst_TraceClosing, NoApplication)
#include "tst_TraceClosing.moc"
