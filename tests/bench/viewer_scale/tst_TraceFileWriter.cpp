// SPDX-License-Identifier: Apache-2.0
#include "model/importers/loadTrace.h"
#include "tests/bench/viewer_scale/TraceFileWriter.h"
#include "tests/bench/viewer_scale/TrainingSimulation.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::bench;

namespace {

/// Writes some steps; returns the number of events.
int64_t write(const std::filesystem::path& path, uint64_t seed, FileKind kind) {
    TrainingSimulation simulation(seed);
    auto writer = TraceFileWriter::create(path, kind, simulation.names());
    if (!writer) return -1;
    StepRows rows;
    int64_t count = 0;
    for (int step = 0; step < 3; ++step) {
        simulation.nextStep(rows);
        if (!writer->write(rows)) return -1;
        count += rows.count();
    }
    return writer->finish(simulation.endNs()) ? count : -1;
}

int64_t eventsIn(const Trace& trace) {
    int64_t sum = 0;
    for (const EventCount& count : trace.counts) sum += count.total;
    return sum;
}

}  // namespace

class tst_TraceFileWriter : public QObject {
    Q_OBJECT

  private slots:
    void everyRowRoundTrips_data() {
        QTest::addColumn<bool>("isInternalFrame");
        QTest::newRow("native") << false;
        QTest::newRow("other tool") << true;
    }

    void everyRowRoundTrips() {
        QFETCH(bool, isInternalFrame);
        const TemporaryFolder folder;
        const FileKind kind = isInternalFrame ? FileKind::OtherTool : FileKind::Native;
        const int64_t count = write(folder / "trace", 1, kind);
        QVERIFY(count > 10'000);
        const auto trace = loadTrace(folder / "trace");
        QVERIFY(trace.has_value());
        QCOMPARE(eventsIn(**trace), count);
        QCOMPARE((*trace)->gpus.size(), size_t{2});
        QCOMPARE((*trace)->threads.size(), size_t{8});
        QCOMPARE((*trace)->streams.size(), size_t{8});
        QVERIFY((*trace)->nccl.size() > 0);
        QVERIFY((*trace)->projections.size() > 0);
        QVERIFY((*trace)->health.empty());
    }

    void ranksNestTheirRangesFourDeep() {
        const TemporaryFolder folder;
        QVERIFY(write(folder / "trace", 2, FileKind::Native) > 0);
        const auto trace = loadTrace(folder / "trace");
        QVERIFY(trace.has_value());
        const NvtxTable& ranges = (*trace)->nvtx;
        std::vector<uint16_t> deepest((*trace)->threads.size());
        for (uint32_t row = 0; row < ranges.size(); ++row)
            deepest[ranges.thread[row]] = std::max(deepest[ranges.thread[row]], ranges.depth[row]);
        for (const uint16_t depth : deepest) QCOMPARE(int(depth), 3);
    }

    void equalSeedsWriteEqualFiles() {
        const TemporaryFolder folder;
        QVERIFY(write(folder / "first", 7, FileKind::Native) > 0);
        QVERIFY(write(folder / "second", 7, FileKind::Native) > 0);
        QVERIFY(write(folder / "other", 8, FileKind::Native) > 0);
        QCOMPARE(contentOf(folder / "first") == contentOf(folder / "second"), true);
        QCOMPARE(contentOf(folder / "first") == contentOf(folder / "other"), false);
    }
};

LANESCOPE_TEST(tst_TraceFileWriter, NoApplication)
#include "tst_TraceFileWriter.moc"
