// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmClock.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;

namespace {

constexpr int64_t msNs = 1'000'000;

/// Decodes four times per second for `seconds`, each time `latenessNs` after the last sample ended.
/// `gpuAheadNs` is the lead of the GPU clock.
int64_t decode(PmClock& clock, int64_t nowNs, int seconds, int64_t latenessNs, int64_t gpuAheadNs = 0) {
    for (int i = 0; i < 4 * seconds; ++i) {
        nowNs += 250 * msNs;
        clock.observe(nowNs, nowNs - latenessNs + gpuAheadNs);
    }
    return nowNs;
}

}  // namespace

class tst_PmClock : public QObject {
    Q_OBJECT

  private slots:
    void equalClockStaysUnchanged() {
        PmClock clock;
        clock.observe(1'000 * msNs, 998 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        QCOMPARE(clock.realtimeNs(500 * msNs), 500 * msNs);
    }

    void deviatingClockIsSteeredToTheMachineClock() {
        PmClock clock;
        const int64_t aheadNs = 3'600'000 * msNs;
        clock.observe(1'000 * msNs, 998 * msNs + aheadNs);
        clock.begin(10 * msNs, 11 * msNs + aheadNs);
        const int64_t offNs = clock.realtimeNs(500 * msNs + aheadNs) - 500 * msNs;
        QVERIFY(offNs >= -2 * msNs && offNs <= 2 * msNs);
    }

    void busyMachineIsNoDrift() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 30, 8 * msNs);
        nowNs = decode(clock, nowNs, 30, 20 * msNs);
        decode(clock, nowNs, 30, 1 * msNs);
        QCOMPARE(clock.realtimeNs(nowNs), nowNs);
    }

    void clockAheadIsHeldBack() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 12, 1 * msNs, 100 * msNs);
        // A current sample must not lie in the future.
        QVERIFY(clock.realtimeNs(nowNs + 100 * msNs) <= nowNs + 5 * msNs);
    }

    void laggingClockIsFollowed() {
        PmClock clock;
        int64_t nowNs = decode(clock, 0, 12, 1 * msNs);
        clock.begin(10 * msNs, 11 * msNs);
        nowNs = decode(clock, nowNs, 30, 1 * msNs, -200 * msNs);
        const int64_t offNs = clock.realtimeNs(nowNs - 200 * msNs) - nowNs;
        QVERIFY(offNs >= -5 * msNs && offNs <= 5 * msNs);
    }
};

LANESCOPE_TEST(tst_PmClock, NoApplication)
#include "tst_PmClock.moc"
