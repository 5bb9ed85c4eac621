// SPDX-License-Identifier: Apache-2.0
#include "model/export/traceFile.h"
#include "model/importers/loadTrace.h"
#include "model/importers/sqlite/readThreadStates.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

using Row = kinds::CpuState::Row;

Row sampleOf(ThreadState state, int64_t startNs, int64_t endNs, uint32_t stack = noIndex, int64_t delayNs = 0) {
    Row row;
    row.startNs = startNs;
    row.endNs = endNs;
    row.thread = 3;
    row.state = state;
    row.stack = stack;
    row.delayNs = delayNs;
    return row;
}

std::vector<std::string> words(const std::vector<Row>& rows) {
    std::vector<std::string> all;
    for (const Row& row : rows) {
        std::string text(nameOf(row.state).identifier);
        text += " " + std::to_string(row.startNs) + "-" + std::to_string(row.endNs);
        if (row.stack != noIndex) text += " at " + std::to_string(row.stack);
        if (row.source == StateSource::StateSamples) text += " sampled";
        if (row.delayNs > 0) text += " wanted " + std::to_string(row.delayNs);
        all.push_back(std::move(text));
    }
    return all;
}
using Texts = std::vector<std::string>;

constexpr int64_t ms = 1'000'000;

const Track* trackOf(const Trace& trace, TrackKind kind) {
    for (const Track& track : trace.tracks)
        if (track.kind == kind) return &track;
    return nullptr;
}

Texts slicesOf(const Trace& trace, const Lane& lane) {
    Texts slices;
    for (uint32_t i = 0; i < lane.size(); ++i)
        slices.push_back(std::string(trace.strings.at(lane.name[i])) + " " + std::to_string(lane.startNs[i] / ms) +
                         "-" + std::to_string(lane.endNs(i) / ms));
    return slices;
}

}  // namespace

class TestExactStates : public QObject {
    Q_OBJECT
  private slots:
    void schedulerGivesTimesAndSamplesGiveReasons() {
        std::vector<ThreadSwitch> switches{{100, true},  {140, false, true}, {160, true},
                                           {170, false}, {220, true},        {230, false}};
        const auto rows = exactStates(
            3, {sampleOf(ThreadState::Running, 90, 165, 7), sampleOf(ThreadState::Gil, 165, 260, 8)}, switches);
        QCOMPARE(words(rows), (Texts{"running 90-100 at 7 sampled", "running 100-140 at 7",
                                     "runnable 140-160 at 7 wanted 20", "running 160-170 at 7", "gil 170-220 at 8",
                                     "running 220-230 at 8", "gil 230-260 at 8 sampled"}));
        QCOMPARE(rows[1].cpuNs, int64_t{40});
        QCOMPARE(rows[4].cpuNs, int64_t{0});
        QCOMPARE(rows[4].source, StateSource::Scheduler);
    }

    void sleepWithoutSamplesHasUnknownReason() {
        std::vector<ThreadSwitch> switches{{30, false}, {10, true}, {50, true}, {60, false, true}};
        QCOMPARE(words(exactStates(3, {}, switches)), (Texts{"running 10-30", "blocked 30-50", "running 50-60"}));
    }

    void samplesCountWithoutSwitches() {
        std::vector<ThreadSwitch> switches;
        QCOMPARE(words(exactStates(3, {sampleOf(ThreadState::Poll, 5, 9, 1)}, switches)),
                 (Texts{"poll 5-9 at 1 sampled"}));
    }

    void repeatedSwitchMeansALostOne() {
        std::vector<ThreadSwitch> switches{{10, true}, {20, true}, {30, false}, {40, true}};
        QCOMPARE(words(exactStates(3, {sampleOf(ThreadState::Lock, 0, 50)}, switches)),
                 (Texts{"lock 0-20 sampled", "running 20-30", "lock 30-40", "lock 40-50 sampled"}));
    }

    void coreWaitsAfterASleepAreShared() {
        // 20 of the 26 waits counted by the kernel followed a preemption.
        std::vector<ThreadSwitch> switches{{0, true},  {10, false, true}, {30, true}, {40, false},
                                           {60, true}, {70, false},       {90, true}, {95, false}};
        const auto rows = exactStates(3, {sampleOf(ThreadState::Poll, 0, 100, noIndex, 26)}, switches);
        QCOMPARE(words(rows)[1], std::string("runnable 10-30 wanted 20"));
        QCOMPARE(words(rows)[3], std::string("poll 40-60 wanted 3"));
        QCOMPARE(words(rows)[5], std::string("poll 70-90 wanted 3"));
    }

    /// As many nested samples as a file can have; a naive reader would compare each with all others.
    void duplicateSamplesCountOnce() {
        constexpr int64_t count = 100'000;
        std::vector<Row> samples{sampleOf(ThreadState::Poll, 0, 10 * count, 1, INT64_MIN)};
        std::vector<ThreadSwitch> switches;
        for (int64_t each = 0; each < count; ++each) {
            samples.push_back(sampleOf(ThreadState::Lock, 1 + each, 10 * count, 2, INT64_MAX));
            switches.push_back({10 * each, each % 2 == 0});
        }
        QElapsedTimer timer;
        timer.start();
        const auto rows = exactStates(3, samples, switches);
        QCOMPARE(rows.size(), size_t{count});
        QVERIFY(std::ranges::all_of(rows, [](const Row& row) { return row.stack == 1; }));
        QVERIFY2(timer.elapsed() < 5'000, qPrintable(QString::number(timer.elapsed())));
        // Any count that the file attributes to the kernel.
        std::vector<ThreadSwitch> one{{0, true}, {5, false}};
        Row odd = sampleOf(ThreadState::Poll, 0, 10, 1, INT64_MAX);
        odd.cpuNs = INT64_MAX;
        QCOMPARE(exactStates(3, {odd}, one).size(), size_t{2});
        odd.delayNs = odd.cpuNs = INT64_MIN;
        one = {};
        QCOMPARE(exactStates(3, {odd}, one).front().delayNs, int64_t{0});
    }

    void cpuSamplesGiveRunningAndStateSamplesGiveWaiting() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.defaultThread();
        const auto line = [&](std::string_view function, uint32_t number, uint32_t parent) {
            return simulated.stack(parent, simulated.intern(function), simulated.intern("/data.py"), number);
        };
        const uint32_t main = line("main", 3, noIndex);
        const uint32_t load = line("load", 88, main);
        const auto native = [&](std::string_view function, uint32_t parent) {
            return simulated.stack(parent, simulated.intern(function), simulated.intern("/lib/libc.so.6"), 0);
        };
        const uint32_t within = line("load", 90, line("main", 3, native("_start", noIndex)));
        const auto exact = [&](ThreadState what, int64_t fromMs, int64_t untilMs, uint32_t at, StateSource source) {
            kinds::CpuState::Row row;
            row.startNs = fromMs * ms;
            row.endNs = untilMs * ms;
            row.thread = thread;
            row.state = what;
            row.source = source;
            row.stack = at;
            row.cpuNs = what == ThreadState::Running ? row.endNs - row.startNs : 0;
            simulated.add<kinds::CpuState>(row);
        };
        exact(ThreadState::Running, 0, 20, main, StateSource::Scheduler);
        exact(ThreadState::Poll, 20, 40, load, StateSource::Scheduler);
        exact(ThreadState::Running, 40, 60, main, StateSource::Scheduler);
        exact(ThreadState::Running, 5, 20, native("memcpy", within), StateSource::Samples);
        exact(ThreadState::Running, 45, 60, within, StateSource::Samples);
        const TracePtr trace = simulated.finish();
        const Track* const states = trackOf(*trace, TrackKind::ThreadStates);
        QVERIFY(states);
        QCOMPARE(states->lanes.size(), size_t{1});
        QCOMPARE(slicesOf(*trace, states->lanes[0]), (Texts{"Running 0-20", "Input 20-40", "Running 40-60"}));
        const Track* const stacks = trackOf(*trace, TrackKind::ThreadStacks);
        QVERIFY(stacks);
        QCOMPARE(stacks->lanes.size(), size_t{4});
        QCOMPARE(slicesOf(*trace, stacks->lanes[0]), (Texts{"_start 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[1]), (Texts{"main 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[2]), (Texts{"load 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[3]), (Texts{"memcpy 5-20"}));
        // The rewritten file contains everything.
        const QTemporaryDir folder;
        const std::string file = folder.filePath("again.sqlite").toStdString();
        QVERIFY(writeTraceFile(*trace, file));
        const auto again = loadTrace(file, {});
        QVERIFY(again);
        const Track* const statesAgain = trackOf(**again, TrackKind::ThreadStates);
        const Track* const stacksAgain = trackOf(**again, TrackKind::ThreadStacks);
        QVERIFY(statesAgain && stacksAgain);
        QCOMPARE(slicesOf(**again, statesAgain->lanes[0]), slicesOf(*trace, states->lanes[0]));
        // Without switches, a sample represents at most 10 ms.
        QCOMPARE(slicesOf(**again, stacksAgain->lanes[0]), (Texts{"_start 5-55"}));
        QCOMPARE(slicesOf(**again, stacksAgain->lanes[3]), (Texts{"memcpy 5-15"}));
    }

    void rowsNeverOverlap() {
        std::mt19937 random(4);
        for (int round = 0; round < 3'000; ++round) {
            std::vector<ThreadSwitch> switches(random() % 12);
            for (ThreadSwitch& each : switches)
                each = {static_cast<int64_t>(random() % 200), random() % 2 == 0, random() % 2 == 0};
            std::vector<Row> samples;
            int64_t atNs = 0;
            for (size_t each = random() % 8; each > 0; --each) {
                const int64_t startNs = atNs + static_cast<int64_t>(random() % 10);
                atNs = startNs + static_cast<int64_t>(random() % 40);
                samples.push_back(sampleOf(static_cast<ThreadState>(random() % threadStateCount), startNs, atNs,
                                           noIndex, static_cast<int64_t>(random() % 20)));
            }
            int64_t untilNs = INT64_MIN, sampledNs = 0, coveredNs = 0;
            for (const Row& each : samples) sampledNs += each.endNs - each.startNs;
            for (const Row& row : exactStates(3, samples, switches)) {
                QVERIFY(row.startNs >= untilNs);
                QVERIFY(row.endNs >= row.startNs);
                QVERIFY(row.delayNs >= 0 && row.delayNs <= row.endNs - row.startNs + 20);
                untilNs = row.endNs;
                coveredNs += row.endNs - row.startNs;
            }
            QVERIFY(coveredNs >= sampledNs);
        }
    }
};

LANESCOPE_TEST(TestExactStates, NoApplication)
#include "tst_ExactStates.moc"
