// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/ownThreads.h"
#include "capture/log/MonotonicCondition.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace std::chrono_literals;

namespace {

constexpr int64_t shortNs = 20'000'000;
constexpr int64_t longNs = 60'000'000'000;  // no test takes that long

/// Duration of a call.
template <typename Call>
int64_t timeOf(Call call) {
    const int64_t begunNs = log::monotonicNs();
    call();
    return log::monotonicNs() - begunNs;
}

}  // namespace

class tst_Waiting : public QObject {
    Q_OBJECT
  private slots:
    void wakesAtTheEndOfItsTime() {
        agent::WakeUp wake;
        QVERIFY(timeOf([&] { wake.waitFor(shortNs); }) >= shortNs);
    }
    void remembersAnEarlierWake() {
        agent::WakeUp wake;
        wake.request();
        wake.request();
        QVERIFY(timeOf([&] { wake.waitFor(longNs); }) < longNs);
        QVERIFY(timeOf([&] { wake.waitFor(shortNs); }) >= shortNs);  // once, not twice
    }
    void wakesOnRequest() {
        agent::WakeUp wake;
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            wake.request();
        });
        QVERIFY(timeOf([&] { wake.waitFor(longNs); }) < longNs);
        other.join();
    }

    void endsInTimeIfNotHeld() {
        log::MonotonicCondition condition;
        std::mutex mutex;
        std::unique_lock lock(mutex);
        QVERIFY(timeOf([&] {
                    QVERIFY(!condition.wait_for(lock, std::chrono::nanoseconds(shortNs), [] { return false; }));
                }) >= shortNs);
        QVERIFY(!condition.wait_for(lock, -1s, [] { return false; }));
        QVERIFY(condition.wait_for(lock, -1s, [] { return true; }));
        QVERIFY(lock.owns_lock());
    }
    void endsWhenTheHoldIsReported() {
        log::MonotonicCondition condition;
        std::mutex mutex;
        bool holds = false;
        std::thread other([&] {
            std::this_thread::sleep_for(5ms);
            const std::lock_guard lock(mutex);
            holds = true;
            condition.notify_all();
        });
        std::unique_lock lock(mutex);
        QVERIFY(condition.wait_for(lock, 60s, [&] { return holds; }));
        lock.unlock();
        other.join();
    }
};

LANESCOPE_TEST(tst_Waiting, NoApplication)
#include "tst_Waiting.moc"
