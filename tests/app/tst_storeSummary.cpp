#include "app/cli/storeSummary.h"

#include <QFile>
#include <QtTest>
#include <optional>

#include "model/compare/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/load/loadTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/support/writeTrace.h"

using namespace lanescope;

/// Adds what a comparison needs to a trace that was just recorded, or leaves the trace as it is.
class tst_storeSummary : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        std::filesystem::remove_all(trace());
        std::filesystem::remove_all(partial());
        QVERIFY(writeTrace(*simulatedTraining({.steps = 6}), trace()));
    }

    void storesWhatTheEventsSay() {
        QVERIFY(!stored());
        QVERIFY(storeSummary(trace()).has_value());
        const Result<TracePtr> loaded = loadTrace(trace());
        QVERIFY(loaded.has_value());
        const Result<RunSummary> made = summarizeRun(**loaded);
        QVERIFY(made.has_value() && !made->isEmpty());
        const std::optional<RunSummary> found = stored();
        QVERIFY(found.has_value());
        QVERIFY(*found == *made);
        QVERIFY(!std::filesystem::exists(partial()));
    }

    void storingTwiceIsStoringOnce() {
        QVERIFY(storeSummary(trace()).has_value());
        const std::optional<RunSummary> once = stored();
        QVERIFY(storeSummary(trace()).has_value());
        QVERIFY(once && stored() == once);
    }

    void aTraceStaysAsItIsIfTheCopyCannotBeMade() {
        std::filesystem::create_directories(partial() / "taken");
        const QByteArray before = bytes();
        QVERIFY(!storeSummary(trace()));
        QVERIFY(!before.isEmpty());
        QVERIFY(bytes() == before);
        QVERIFY(std::filesystem::exists(partial() / "taken"));
    }

    void whatIsNoTraceStaysAsItIs() {
        QFile file(QString::fromStdString(trace().string()));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write("no trace");
        file.close();
        QVERIFY(!storeSummary(trace()));
        QCOMPARE(bytes(), QByteArray("no trace"));
        QVERIFY(!std::filesystem::exists(partial()));
    }

    void aRunWithoutGpuWorkHasNothingToStore() {
        std::filesystem::remove(trace());
        QVERIFY(writeTrace(Trace{}, trace()));
        const QByteArray before = bytes();
        QVERIFY(storeSummary(trace()).has_value());
        QVERIFY(bytes() == before);
    }

  private:
    std::filesystem::path trace() const { return folder_ / "run.sqlite"; }
    std::filesystem::path partial() const { return folder_ / "run.sqlite.partial"; }

    std::optional<RunSummary> stored() const {
        const Result<Database> database = Database::openReadOnly(trace());
        return database ? readRunSummary(*database) : std::nullopt;
    }

    QByteArray bytes() const {
        QFile file(QString::fromStdString(trace().string()));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_storeSummary, NoApplication)
#include "tst_storeSummary.moc"
