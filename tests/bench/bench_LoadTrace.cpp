// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QTest>

#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/importers/TraceFormat.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

/// Opens a simulated trace of some hundred thousand events, and compares with stepping through the
/// same tables without storing anything.
class bench_LoadTrace : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void loadingCostsFewTimesReading();
    void sealingCostsLittle();

  private:
    /// Loading also interns names, links, projects and lays out tracks; above this multiple of bare
    /// reading, a part of it is no longer linear.
    static constexpr double maxTimesReading = 6;

    qint64 readPlainlyMs() const;

    TemporaryFolder folder_;
};

void bench_LoadTrace::initTestCase() {
    const TracePtr trace = simulatedTraining({.steps = 500});
    QVERIFY(writeTraceFile(*trace, folder_ / "trace"));
    qInfo("%u kernels, %u API calls", trace->kernels.size(), trace->apiCalls.size());
}

qint64 bench_LoadTrace::readPlainlyMs() const {
    QElapsedTimer timer;
    timer.start();
    const auto database = Database::openReadOnly(folder_ / "trace");
    for (const char* sql : {"SELECT * FROM StringIds", "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL",
                            "SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY", "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME",
                            "SELECT * FROM NVTX_EVENTS"}) {
        auto statement = database->prepare(sql);
        uint64_t sum = 0;
        while (*statement->step())
            for (int column = 0; column < statement->columnCount(); ++column)
                sum += static_cast<uint64_t>(statement->integer(column));
        if (sum == 1) qInfo("unlikely");  // keeps the reading from being optimized away
    }
    return timer.elapsed();
}

void bench_LoadTrace::loadingCostsFewTimesReading() {
    // The best of some rounds each, so that a busy machine does not decide.
    qint64 readMs = INT64_MAX, loadMs = INT64_MAX;
    for (int round = 0; round < 3; ++round) {
        readMs = std::min(readMs, readPlainlyMs());
        QElapsedTimer timer;
        timer.start();
        QVERIFY(loadTrace(folder_ / "trace"));
        loadMs = std::min(loadMs, timer.elapsed());
    }
    qInfo("reading %lld ms, loading %lld ms", readMs, loadMs);
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    QVERIFY(static_cast<double>(loadMs) < maxTimesReading * static_cast<double>(readMs));
}

/// Interleaved, so that a busy machine affects both.
void bench_LoadTrace::sealingCostsLittle() {
    const std::filesystem::path sealed = folder_ / "sealed";
    std::filesystem::copy_file(folder_ / "trace", sealed);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(sealPages(sealed).has_value());
    const qint64 sealUs = timer.nsecsElapsed() / 1000;
    qint64 plainUs = INT64_MAX, sealedUs = INT64_MAX;
    for (int round = 0; round < 7; ++round)
        for (const auto& [path, bestUs] : {std::pair(folder_ / "trace", &plainUs), std::pair(sealed, &sealedUs)}) {
            timer.restart();
            QVERIFY(loadTrace(path));
            *bestUs = std::min(*bestUs, timer.nsecsElapsed() / 1000);
        }
    qInfo("loading %lld us, sealed %lld us (%.3f times as long); sealing %lld us (%.3f of a load)", plainUs, sealedUs,
          static_cast<double>(sealedUs) / static_cast<double>(plainUs), sealUs,
          static_cast<double>(sealUs) / static_cast<double>(plainUs));
}

QTEST_APPLESS_MAIN(bench_LoadTrace)
#include "bench_LoadTrace.moc"
