// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>

#include "capture/log/LogReader.h"
#include "capture/threads/StateRuns.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t ms = 1'000'000;

class Runs {
  public:
    void operator()(const log::ThreadRunRecord& record) { all.push_back(record); }
    std::vector<log::ThreadRunRecord> all;
};

/// Runs made from a series of samples.
std::vector<log::ThreadRunRecord> runsOf(const std::function<void(StateRuns&)>& sample) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("here.sampler.1")).toStdString();
    {
        SampleLog log(path, uint64_t{1} << 30);
        StateRuns runs(log, 7, 8);
        sample(runs);
        runs.end();
        log.flush();
        log.end();
    }
    auto reader = log::LogReader::open(path + ".log");
    Runs found;
    while (reader && reader->poll(found, 100).value_or(0) > 0) continue;
    return found.all;
}

ThreadSample seen(ThreadState state, uint32_t stack = 0) {
    ThreadSample all;
    all.state = state;
    all.stack = stack;
    return all;
}

}  // namespace

class tst_StateRuns : public QObject {
    Q_OBJECT

  private slots:
    void sleepReasonsAreRead() {
        const SystemCall running = parseSystemCall("running\n");
        QVERIFY(running.isKnown && running.isRunning);
        const SystemCall futex = parseSystemCall(QByteArray::number(SYS_futex).toStdString() + " 0x7f00 0x189 0x0\n");
        QVERIFY(futex.isKnown && !futex.isRunning);
        QCOMPARE(futex.argument, uint64_t{0x7f00});
        QCOMPARE(sleepReason(futex), ThreadState::Lock);
        QVERIFY(isFutex(futex.number));
        QCOMPARE(sleepReason(parseSystemCall("-1 0x7ffc 0x7f29\n")), ThreadState::Disk);
        QVERIFY(!parseSystemCall("").isKnown);
        SystemCall call;
        call.number = SYS_clock_nanosleep;
        QCOMPARE(sleepReason(call), ThreadState::Sleep);
        call.number = SYS_ioctl;
        QCOMPARE(sleepReason(call), ThreadState::Device);
        call.number = SYS_ppoll;
        QCOMPARE(sleepReason(call), ThreadState::Poll);
        QCOMPARE(nameOfCall(call.number), std::string_view("ppoll"));
        call.number = 100'000;
        QCOMPARE(sleepReason(call), ThreadState::Blocked);
        QVERIFY(nameOfCall(call.number).empty());
    }

    void equalSamplesMakeOneRun() {
        const auto runs = runsOf([](StateRuns& made) {
            for (int sample = 0; sample <= 10; ++sample)
                made.add(1'000 * ms + sample * 10 * ms, seen(ThreadState::Sleep, 3), 0, 0);
        });
        QCOMPARE(runs.size(), size_t{1});
        QCOMPARE(runs[0].startNs, 1'000 * ms);
        QCOMPARE(runs[0].endNs, 1'100 * ms);
        QCOMPARE(runs[0].stack, 3u);
        QCOMPARE(runs[0].samples, 11u);
    }

    /// The core time gives the moments of falling asleep and waking.
    void edgesFollowTheKernelCount() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Sleep, 2), 2 * ms, 1 * ms);
            made.add(1'020 * ms, seen(ThreadState::Running, 1), 4 * ms, 0);
            made.add(1'030 * ms, seen(ThreadState::Running, 1), 10 * ms, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(runs[0].endNs, 1'003 * ms);
        QCOMPARE(runs[0].cpuNs, 2 * ms);
        QCOMPARE(runs[0].delayNs, 1 * ms);
        QCOMPARE(runs[1].startNs, 1'003 * ms);
        QCOMPARE(runs[1].endNs, 1'016 * ms);
        QCOMPARE(runs[2].cpuNs, 14 * ms);
    }

    /// A woken thread without a core still has the place of its wait.
    void wakeUpDelayBelongsToTheWait() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Sleep, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Running, 2), 2 * ms, 3 * ms);
            made.add(1'020 * ms, seen(ThreadState::Running, 2), 10 * ms, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[1].state), ThreadState::Runnable);
        QCOMPARE(runs[1].stack, 1u);
        QCOMPARE(runs[1].startNs, 1'005 * ms);
        QCOMPARE(runs[1].endNs, 1'008 * ms);
        QCOMPARE(runs[1].delayNs, 3 * ms);
        QCOMPARE(runs[2].delayNs, int64_t{0});
        QCOMPARE(runs[2].cpuNs, 12 * ms);
    }

    void runBetweenTwoWaitsIsFound() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Sleep, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Lock, 2), 4 * ms, 0);
            made.add(1'020 * ms, seen(ThreadState::Lock, 2), 0, 0);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[1].state), ThreadState::Running);
        QCOMPARE(runs[1].startNs, 1'003 * ms);
        QCOMPARE(runs[1].endNs, 1'007 * ms);
        QCOMPARE(runs[1].stack, 0u);
        int64_t sumNs = 0;
        for (const auto& run : runs) sumNs += run.endNs - run.startNs;
        QCOMPARE(sumNs, 20 * ms);
    }

    /// A thread scheduled often between two samples has no determinable edge.
    void frequentSwitchesGiveNoEdge() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'100 * ms, seen(ThreadState::Lock, 2), 40 * ms, 0, 8);
            made.add(1'200 * ms, seen(ThreadState::Lock, 2), 0, 0);
            made.add(1'300 * ms, seen(ThreadState::Running, 3), 98 * ms, 0, 9);
        });
        QCOMPARE(runs.size(), size_t{3});
        QCOMPARE(static_cast<ThreadState>(runs[0].state), ThreadState::Lock);
        QCOMPARE(runs[0].startNs, 1'000 * ms);
        QCOMPARE(runs[0].endNs, 1'100 * ms);
        QCOMPARE(runs[0].cpuNs, 40 * ms);
        QCOMPARE(runs[1].endNs, 1'202 * ms);
        QCOMPARE(runs[1].cpuNs, int64_t{0});
        const auto between = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Lock, 1), 0, 0);
            made.add(1'100 * ms, seen(ThreadState::Sleep, 2), 41 * ms, 0, 8);
        });
        QCOMPARE(between.size(), size_t{2});
        QCOMPARE(static_cast<ThreadState>(between[0].state), ThreadState::Lock);
        QCOMPARE(static_cast<ThreadState>(between[1].state), ThreadState::Sleep);
        QCOMPARE(between[0].endNs, 1'050 * ms);
        QCOMPARE(between[1].endNs, 1'100 * ms);
        QCOMPARE(between[0].cpuNs + between[1].cpuNs, 41 * ms);
        // It is known to have run nearly all of the time, however often it was scheduled.
        QCOMPARE(static_cast<ThreadState>(runs[2].state), ThreadState::Running);
        QCOMPARE(runs[2].cpuNs, 98 * ms);
    }

    /// Samples rarer than the waits miss short ones more often; on average each wait still has its
    /// time. 20 ms on a core, 20 ms asleep, 40 ms for a lock.
    void shortWaitsHaveTheirTime() {
        constexpr int64_t cycleNs = 80 * ms, wholeNs = 30'000 * ms;
        const auto stateAt = [](int64_t timeNs) {
            const int64_t at = timeNs % cycleNs;
            return at < 20 * ms ? ThreadState::Running : at < 40 * ms ? ThreadState::Sleep : ThreadState::Lock;
        };
        for (const int64_t intervalNs : {10 * ms, 23 * ms, 30 * ms, 41 * ms}) {
            const auto runs = runsOf([&](StateRuns& made) {
                std::mt19937 random(5);
                const auto ranUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 20 * ms + std::min(timeNs % cycleNs, 20 * ms);
                };
                const auto waitsUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 2 + (timeNs % cycleNs >= 20 * ms ? 1 : 0) +
                           (timeNs % cycleNs >= 40 * ms ? 1 : 0);
                };
                // Woken twice in each cycle: to change between the waits, and to run.
                const auto slicesUntil = [&](int64_t timeNs) {
                    return timeNs / cycleNs * 2 + 1 + (timeNs % cycleNs >= 40 * ms ? 1 : 0);
                };
                int64_t lastNs = 0;
                for (int64_t nowNs = ms; nowNs < wholeNs;) {
                    const ThreadState state = stateAt(nowNs);
                    made.add(nowNs + 1'000 * ms, seen(state, static_cast<uint32_t>(state)),
                             ranUntil(nowNs) - ranUntil(lastNs), 0, slicesUntil(nowNs) - slicesUntil(lastNs),
                             waitsUntil(nowNs) - waitsUntil(lastNs));
                    lastNs = nowNs;
                    nowNs += intervalNs / 2 + static_cast<int64_t>(random()) % intervalNs;
                }
            });
            int64_t asleepNs = 0, lockedNs = 0, ranNs = 0;
            for (const log::ThreadRunRecord& run : runs) {
                const auto state = static_cast<ThreadState>(run.state);
                const int64_t durationNs = run.endNs - run.startNs - run.cpuNs;
                asleepNs += state == ThreadState::Sleep ? durationNs : 0;
                lockedNs += state == ThreadState::Lock ? durationNs : 0;
                ranNs += run.cpuNs;
                // A line is shown only where it was sampled.
                if (run.stack != 0) QCOMPARE(run.stack, run.state);
            }
            const auto percent = [](int64_t ns) { return 100. * static_cast<double>(ns) / wholeNs; };
            qInfo("a sample every %lld ms: %.1f %% on a core, %.1f %% asleep, %.1f %% for the lock",
                  static_cast<long long>(intervalNs / ms), percent(ranNs), percent(asleepNs), percent(lockedNs));
            QVERIFY(std::abs(percent(ranNs) - 25) < 0.5);
            QVERIFY(std::abs(percent(asleepNs) - 25) < 2.5);
            QVERIFY(std::abs(percent(lockedNs) - 50) < 2.5);
        }
    }

    /// The time between two samples of a running thread is no running if the kernel counted a wait.
    void waitBetweenTwoRunsIsFound() {
        const auto runs = runsOf([](StateRuns& made) {
            made.add(1'000 * ms, seen(ThreadState::Running, 1), 0, 0);
            made.add(1'010 * ms, seen(ThreadState::Sleep, 2), 0, 0, 0, 1);
            made.add(1'020 * ms, seen(ThreadState::Running, 1), 0, 0, 1, 0);
            made.add(1'060 * ms, seen(ThreadState::Running, 1), 20 * ms, 0, 1, 1);
        });
        const log::ThreadRunRecord& wait = runs[runs.size() - 2];
        QCOMPARE(static_cast<ThreadState>(wait.state), ThreadState::Sleep);
        QCOMPARE(wait.stack, 0u);
        QCOMPARE(wait.startNs, 1'030 * ms);
        QCOMPARE(wait.endNs, 1'050 * ms);
        QCOMPARE(wait.cpuNs, int64_t{0});
        int64_t ranNs = 0;
        for (const log::ThreadRunRecord& run : runs) ranNs += run.cpuNs;
        QCOMPARE(ranNs, 20 * ms);
    }

    /// A thread that alternately has the GIL and waits for it does nothing else in between.
    void noWaitIsDrawnNextToTheGil() {
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int sample = 0; sample < 16; ++sample) made.add(nowNs += 10 * ms, seen(ThreadState::Lock, 2), 0, 0, 1);
            for (int turn = 0; turn < 40; ++turn) {
                made.add(nowNs += 20 * ms, seen(ThreadState::Running, 1), 10 * ms, 0, 4);
                made.add(nowNs += 20 * ms, seen(ThreadState::Gil, 1), 10 * ms, 0, 4);
            }
        });
        int64_t lockedNs = 0;
        for (const log::ThreadRunRecord& run : runs)
            if (static_cast<ThreadState>(run.state) == ThreadState::Lock) lockedNs += run.endNs - run.startNs;
        QVERIFY(lockedNs <= 180 * ms);
    }

    void preemptedThreadWasInNoOtherWait() {
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int turn = 0; turn < 20; ++turn) {
                made.add(nowNs += 10 * ms, seen(ThreadState::Lock, 2), 0, 0, 1);
                made.add(nowNs += 10 * ms, seen(ThreadState::Running, 1), 5 * ms, 0, 2, 0);
                made.add(nowNs += 20 * ms, seen(ThreadState::Sleep, 3), 5 * ms, ms / 10, 2, 1);
            }
        });
        int64_t asleepNs = 0, unseenNs = 0;
        for (const log::ThreadRunRecord& run : runs) {
            if (static_cast<ThreadState>(run.state) != ThreadState::Sleep) continue;
            (run.stack == 0 ? unseenNs : asleepNs) += run.endNs - run.startNs;
        }
        QCOMPARE(unseenNs, int64_t{0});
        QVERIFY(asleepNs >= 20 * 14 * ms);
    }

    /// For a thread that waits for the GIL half of its wanted running time, the core time is half of the wanted time.
    void runningThreadGetsItsGilWaits() {
        constexpr int64_t turns = 40;
        const auto runs = runsOf([](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int64_t turn = 0; turn < turns; ++turn) {
                // 20 ms in stack 1, with a core for 10 of them; then 20 ms asleep in stack 2.
                made.add(nowNs += 10 * ms, seen(ThreadState::Gil, 1), 5 * ms, 0, 2);
                made.add(nowNs += 5 * ms, seen(ThreadState::Running, 1), 5 * ms / 2, 0, 1);
                made.add(nowNs += 15 * ms, seen(ThreadState::Sleep, 2), 5 * ms / 2, 0, 2);
                made.add(nowNs += 10 * ms, seen(ThreadState::Sleep, 2), 0, 0);
            }
        });
        int64_t activeNs = 0, asleepNs = 0, ranNs = 0;
        for (const log::ThreadRunRecord& run : runs) {
            (run.stack == 1 ? activeNs : asleepNs) += run.endNs - run.startNs;
            ranNs += run.cpuNs;
        }
        QVERIFY(std::abs(activeNs - turns * 20 * ms) < turns * 3 * ms);
        QVERIFY(std::abs(asleepNs - turns * 20 * ms) < turns * 3 * ms);
        QCOMPARE(ranNs, turns * 10 * ms - 5 * ms);  // the first sample has no predecessor
    }

    void timeNeverDecreases() {
        std::mt19937 random(7);
        const auto runs = runsOf([&](StateRuns& made) {
            int64_t nowNs = 1'000 * ms;
            for (int sample = 0; sample < 2'000; ++sample) {
                const auto state = static_cast<ThreadState>(random() % threadStateCount);
                const auto cpuNs = static_cast<int64_t>(random() % 30) * ms;
                made.add(nowNs, seen(state, random() % 3), cpuNs, static_cast<int64_t>(random() % 3) * ms);
                nowNs += 1 + static_cast<int64_t>(random() % 15) * ms;
            }
        });
        int64_t lastNs = 0;
        for (const auto& run : runs) {
            QVERIFY(run.startNs >= lastNs);
            QVERIFY(run.endNs >= run.startNs);
            QVERIFY(run.cpuNs >= 0 && run.delayNs >= 0);
            lastNs = run.endNs;
        }
    }
};

LANESCOPE_TEST(tst_StateRuns, NoApplication)
#include "tst_StateRuns.moc"
