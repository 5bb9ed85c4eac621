// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/ThreadActivities.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

void add(SimulatedTrace& simulated, uint32_t thread, ThreadState state, TimeRange range, int64_t cpuNs = 0,
         int64_t delayNs = 0) {
    kinds::CpuState::Row row;
    row.startNs = range.startNs;
    row.endNs = range.endNs;
    row.thread = thread;
    row.state = state;
    row.cpuNs = cpuNs;
    row.delayNs = delayNs;
    simulated.add<kinds::CpuState>(row);
}

}  // namespace

class tst_unseenWaits : public QObject {
    Q_OBJECT

  private slots:
    /// Samples 10 ms apart show a thread running that waits for the GIL half of the time.
    void unseenWaitsResembleSampledOnes() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        add(simulated, thread, ThreadState::Running, {0 * ms, 40 * ms}, 30 * ms, 2 * ms);
        add(simulated, thread, ThreadState::Gil, {40 * ms, 70 * ms}, 0 * ms, 0 * ms);
        add(simulated, thread, ThreadState::Poll, {70 * ms, 80 * ms}, 0 * ms, 0 * ms);
        const TracePtr trace = simulated.finish();
        const TimeRange all{0, 80 * ms};
        const ThreadTimes times = StatesOfThreads(*trace).during(thread, all);
        QCOMPARE(times.of(ThreadState::Unknown), 8 * ms);
        QCOMPARE(times.unseenWaitNs, 8 * ms);
        const ThreadTimes shared = times.withUnseenWaits();
        QCOMPARE(shared.of(ThreadState::Gil), 36 * ms);
        QCOMPARE(shared.of(ThreadState::Poll), 12 * ms);
        QCOMPARE(shared.of(ThreadState::Unknown), int64_t{0});
        QCOMPARE(shared.of(ThreadState::Running), 30 * ms);
        QCOMPARE(shared.knownNs(), times.knownNs());
    }
    void fewWaitsDoNotExplainManyUnseenOnes() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        add(simulated, thread, ThreadState::Running, {0 * ms, 40 * ms}, 20 * ms, 0 * ms);
        add(simulated, thread, ThreadState::Gil, {40 * ms, 50 * ms}, 0 * ms, 0 * ms);
        const TracePtr trace = simulated.finish();
        const ThreadTimes times = StatesOfThreads(*trace).during(thread, {0, 50 * ms}).withUnseenWaits();
        QCOMPARE(times.of(ThreadState::Unknown), 20 * ms);
        QCOMPARE(times.of(ThreadState::Gil), 10 * ms);
    }

    /// The samples show the GIL holder, but not its place between them.
    void gilHolderIsNamedForAThreadThatAlsoRan() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        const uint32_t tally = simulated.addThread(0, 4250, "tally");
        const uint32_t nameless = simulated.addThread(0, 4260, "");
        int64_t atNs = 0;
        for (const uint32_t holder : {tally, nameless}) {
            kinds::CpuState::Row row;
            row.startNs = atNs;
            row.endNs = atNs += 60 * ms;
            row.thread = thread;
            row.state = ThreadState::Gil;
            row.cpuNs = 30 * ms;
            row.holder = holder;
            simulated.add<kinds::CpuState>(row);
        }
        const TracePtr trace = simulated.finish();
        std::vector<analysis::IdleCause> causes;
        std::vector<std::string> said;
        const StatesOfThreads statesOf(*trace);
        analysis::ThreadActivities activities(*trace, statesOf);
        activities.forEachIn(thread, {0, 120 * ms}, [&](TimeRange, auto id) {
            causes.emplace_back().activity = activities.at(id);
            said.push_back(activityText(activities.at(id)));
        });
        QCOMPARE(said.size(), size_t{2});
        QCOMPARE(said[0], std::string(", which alternately runs and waits for the GIL that the thread tally has"));
        QCOMPARE(said[1], std::string(", which alternately runs and waits for the GIL that another thread has"));
        QVERIFY(causes[0].runsAndWaits());
        QVERIFY(!causes[0].isSeenRunning());
        QVERIFY(!causes[0].isMostlyWithoutCore());
        QVERIFY(!causes[0].state());
    }
};

LANESCOPE_TEST(tst_unseenWaits, NoApplication)
#include "tst_unseenWaits.moc"
