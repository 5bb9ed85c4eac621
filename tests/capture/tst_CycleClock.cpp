// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/CycleClock.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::agent;

namespace {

struct ClockReading {
    int64_t beforeNs;
    uint64_t ticks;
    int64_t afterNs;
};

ClockReading now() {
    ClockReading moment;
    moment.beforeNs = log::eventTimeNs();
    moment.ticks = CycleClock::now();
    moment.afterNs = log::eventTimeNs();
    return moment;
}

// Maximum distance of two clocks read one after the other, one of them slewed.
constexpr int64_t allowedNs = 20'000;

void compare(const CycleClock& clock, const std::vector<ClockReading>& moments) {
    for (const ClockReading& moment : moments) {
        const int64_t ns = clock.eventNs(moment.ticks);
        QVERIFY2(ns > moment.beforeNs - allowedNs, qPrintable(QString::number(ns - moment.beforeNs)));
        QVERIFY2(ns < moment.afterNs + allowedNs, qPrintable(QString::number(ns - moment.afterNs)));
    }
}

}  // namespace

class tst_CycleClock : public QObject {
    Q_OBJECT

  private slots:
    void convertsEarlierTimes() {
        CycleClock clock;
        for (int round = 0; round < 10; ++round) {
            std::vector<ClockReading> moments;
            for (int i = 0; i < 1000; ++i) moments.push_back(now());
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
            clock.calibrate();
            compare(clock, moments);
        }
    }

    void convertsBeforeTheSecondReading() {
        CycleClock clock;
        const std::vector<ClockReading> moments = {now()};
        clock.calibrate();
        compare(clock, moments);
    }

    void keepsTheOrderOfTimes() {
        CycleClock clock;
        int64_t lastNs = 0;
        for (int round = 0; round < 20; ++round) {
            std::vector<uint64_t> ticks;
            for (int i = 0; i < 100; ++i) ticks.push_back(CycleClock::now());
            clock.calibrate();
            for (size_t i = 1; i < ticks.size(); ++i) QVERIFY(clock.eventNs(ticks[i]) >= clock.eventNs(ticks[i - 1]));
            lastNs = clock.eventNs(ticks.back());
        }
        QVERIFY(lastNs > 0);
    }

    void agreesOnAllThreads() {
        CycleClock clock;
        std::vector<ClockReading> moments(8);
        std::vector<std::thread> threads;
        for (ClockReading& moment : moments) threads.emplace_back([&moment] { moment = now(); });
        for (std::thread& thread : threads) thread.join();
        clock.calibrate();
        compare(clock, moments);
    }
};

LANESCOPE_TEST(tst_CycleClock, NoApplication)
#include "tst_CycleClock.moc"
