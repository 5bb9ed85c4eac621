// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/TraceWriter.h"
#include "capture/collector/trimToWindows.h"
#include "model/format/GlobalId.h"
#include "model/format/tables/Threads.h"
#include "model/importers/loadTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t ms = 1'000'000;
constexpr int64_t inWindows = globalTid(7, 7), always = globalTid(8, 8);

struct Piece {
    int64_t startMs, endMs;
    ThreadState state;
    int64_t cpuMs;
    bool operator==(const Piece&) const = default;
};

}  // namespace

class tst_ThreadWindows : public QObject {
    Q_OBJECT

    static std::vector<Piece> pieces(const Trace& trace, int64_t tid, StateSource source) {
        std::vector<Piece> found;
        const CpuStateTable& states = trace.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row)
            if (states.source[row] == source &&
                trace.threads[states.thread[row]].tid == static_cast<uint32_t>(tid & 0xffffff))
                found.push_back(
                    {states.startNs[row] / ms, states.endNs[row] / ms, states.state[row], states.cpuNs[row] / ms});
        std::ranges::sort(found, {}, &Piece::startMs);
        return found;
    }

  private slots:
    void statesSwitchesAndSamplesAreClippedToTheWindows() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("t.sqlite").toStdString();
        auto writer = TraceWriter::create(path);
        QVERIFY(writer);
        TraceWriter& trace = **writer;
        for (const int64_t thread : {inWindows, always}) {
            constexpr const auto& t = tables::threadStates;
            const auto state = [&](int64_t startMs, int64_t endMs, ThreadState what) {
                trace.add(t, t.start = startMs * ms, t.end = endMs * ms, t.globalTid = thread, t.state = what,
                          t.cpuNs = what == ThreadState::Running ? (endMs - startMs) * ms : 0, t.delayNs = 0);
            };
            state(0, 50, ThreadState::Running);    // before
            state(50, 250, ThreadState::Running);  // over both windows
            state(250, 260, ThreadState::Lock);    // within
            state(300, 400, ThreadState::Lock);    // after
        }
        // On other threads, because samples and switches of one are merged.
        constexpr const auto& s = tables::scheduleEvents;
        const auto change = [&](int64_t atMs, bool isIn) {
            trace.add(s, s.start = atMs * ms, s.cpu = 3, s.isSchedIn = isIn ? 1 : 0, s.globalTid = globalTid(7, 9),
                      s.isPreempted = std::optional<int64_t>());
        };
        change(10, true);    // continues into the first window
        change(120, false);  // and ends there
        change(170, true);   // between
        change(350, false);
        constexpr const auto& e = tables::sampleEvents;
        constexpr const auto& c = tables::samplingCallchains;
        for (const int64_t atMs : {90, 110, 199, 300}) {
            trace.add(c, c.id = atMs, c.symbol = trace.intern("f"), c.module = trace.intern("m"), c.stackDepth = 0,
                      c.line = std::optional<int64_t>());
            trace.add(e, e.id = atMs, e.start = atMs * ms, e.cpu = 0, e.globalTid = globalTid(7, 10));
        }
        QVERIFY(trace.commit());
        const std::vector<TimeRange> windows{{100 * ms, 150 * ms}, {200 * ms, 280 * ms}};
        const auto skipped =
            trimThreadsToWindows(trace.database(), [&](int64_t process) -> const std::vector<TimeRange>* {
                return process == globalPid(7) ? &windows : nullptr;
            });
        QVERIFY2(skipped, skipped ? "" : skipped.error().sentence.c_str());
        QVERIFY(trace.finish());
        writer->reset();
        const auto loaded = loadTrace(path, {});
        QVERIFY(loaded);
        const std::vector<Piece> cut = pieces(**loaded, inWindows, StateSource::StateSamples);
        QCOMPARE(cut.size(), size_t{3});
        QVERIFY((cut[0] == Piece{100, 150, ThreadState::Running, 50}));
        QVERIFY((cut[1] == Piece{200, 250, ThreadState::Running, 50}));
        QVERIFY((cut[2] == Piece{250, 260, ThreadState::Lock, 0}));
        QCOMPARE(pieces(**loaded, always, StateSource::StateSamples).size(), size_t{4});
        const std::vector<Piece> scheduled = pieces(**loaded, globalTid(7, 9), StateSource::Scheduler);
        QCOMPARE(scheduled.size(), size_t{3});
        QVERIFY((scheduled[0] == Piece{100, 120, ThreadState::Running, 20}));
        QVERIFY((scheduled[1] == Piece{120, 150, ThreadState::Blocked, 0}));
        QVERIFY((scheduled[2] == Piece{200, 280, ThreadState::Running, 80}));
        const std::vector<Piece> samples = pieces(**loaded, globalTid(7, 10), StateSource::Samples);
        QCOMPARE(samples.size(), size_t{1});
        QCOMPARE(samples[0].startMs, int64_t{110});
    }

    void threadEndsAfterItsLastSwitch() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("t.sqlite").toStdString();
        auto writer = TraceWriter::create(path);
        QVERIFY(writer);
        TraceWriter& trace = **writer;
        constexpr const auto& s = tables::scheduleEvents;
        constexpr const auto& t = tables::threadStates;
        for (const int64_t atMs : {20, 30, 40, 125, 130})
            trace.add(s, s.start = atMs * ms, s.cpu = 3, s.isSchedIn = atMs % 20 == 0 ? 1 : 0,
                      s.globalTid = globalTid(7, 9), s.isPreempted = std::optional<int64_t>());
        constexpr int64_t windowCount = 5'000;
        std::vector<TimeRange> windows;
        for (int64_t window = 1; window <= windowCount; ++window) {
            windows.push_back({window * 100 * ms, (window * 100 + 50) * ms});
            trace.add(t, t.start = (window * 100 + 40) * ms, t.end = (window * 100 + 60) * ms, t.globalTid = inWindows,
                      t.state = ThreadState::Lock, t.cpuNs = 0, t.delayNs = 0);
        }
        QVERIFY(trace.commit());
        QVERIFY(trimThreadsToWindows(trace.database(), [&](int64_t) { return &windows; }));
        QVERIFY(trace.finish());
        writer->reset();
        const auto loaded = loadTrace(path, {});
        QVERIFY(loaded);
        const std::vector<Piece> scheduled = pieces(**loaded, globalTid(7, 9), StateSource::Scheduler);
        QCOMPARE(scheduled.size(), size_t{1});
        QVERIFY((scheduled[0] == Piece{100, 125, ThreadState::Running, 25}));
        const std::vector<Piece> cut = pieces(**loaded, inWindows, StateSource::StateSamples);
        QCOMPARE(cut.size(), static_cast<size_t>(windowCount));
        QVERIFY((cut[0] == Piece{140, 150, ThreadState::Lock, 0}));
        QVERIFY((cut.back() == Piece{windowCount * 100 + 40, windowCount * 100 + 50, ThreadState::Lock, 0}));
    }

    void adjacentPiecesAreMerged() { QCOMPARE(joined({{5, 7}, {1, 3}, {3, 4}, {6, 9}, {9, 9}}).size(), size_t{2}); }

    /// A program without CUDA, of which only part of two seconds is requested.
    void delayAndDurationLimitSampling() {
        const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
        if (python.isEmpty()) QSKIP("There is no Python.");
        const QTemporaryDir folder;
        const QString output = folder.filePath("run.sqlite");
        QProcess process;
        process.start(QStringLiteral(LANESCOPE_BINARY_DIR "/bin/lanescope"),
                      {"record", "--no-sample", "--delay", "0.8", "--duration", "0.5", "-o", output, "--", python, "-c",
                       "import time\nend = time.time() + 2\nwhile time.time() < end: pass"});
        QVERIFY(process.waitForFinished(60'000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
        const auto trace = loadTrace(output.toStdString(), {});
        QVERIFY2(trace, trace ? "" : trace.error().sentence.c_str());
        const CpuStateTable& states = (*trace)->cpuStates;
        QVERIFY(states.size() > 0);
        int64_t ranNs = 0;
        for (uint32_t row = 0; row < states.size(); ++row) {
            QVERIFY(states.startNs[row] >= 800 * ms);
            QVERIFY(states.endNs[row] <= 1'300 * ms);
            ranNs += states.cpuNs[row];
        }
        QVERIFY(ranNs > 0 && ranNs <= 510 * ms);
    }
};

LANESCOPE_TEST(tst_ThreadWindows, QCoreApplication)
#include "tst_ThreadWindows.moc"
