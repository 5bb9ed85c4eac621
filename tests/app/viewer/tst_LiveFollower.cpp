// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <QApplication>
#include <ctime>

#include "app/viewer/LiveFollower.h"
#include "model/export/traceFile.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace std::chrono_literals;

namespace {

constexpr int patienceMs = 60'000;

/// A trace during recording: under a temporary name, and with a lock in the folder of its logs.
struct Recording {
    Recording() {
        if (!writeTraceFile(*simulatedTraining({.steps = 3}), live.partial)) qFatal("no trace");
        std::filesystem::create_directory(logFolderOf(live));
        const std::filesystem::path locked = logFolderOf(live) / "session.json";
        lock = ::open(locked.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) qFatal("no lock");
    }
    ~Recording() { release(); }
    void finish() {
        std::filesystem::rename(live.partial, live.finished);
        release();
    }
    void release() {
        if (lock >= 0) ::close(std::exchange(lock, -1));
    }
    TemporaryFolder folder;
    LiveTrace live{folder / "out.sqlite", folder / "out.sqlite.partial"};
    int lock = -1;
};

void useCpuTime(std::chrono::nanoseconds wanted) {
    const std::clock_t begin = std::clock();
    while (std::chrono::microseconds((std::clock() - begin) * 1'000'000 / CLOCKS_PER_SEC) < wanted) continue;
}

}  // namespace

class TestLiveFollower : public QObject {
    Q_OBJECT

  private slots:
    void refreshesUseATenthOfACoreAtMost() {
        // A cheap refresh is done once per second.
        QCOMPARE(refreshPeriod(0ns), std::chrono::nanoseconds(1s));
        QCOMPARE(refreshPeriod(100ms), std::chrono::nanoseconds(1s));
        for (const std::chrono::nanoseconds work : {101'000'000ns, 1'000'000'000ns, 60'000'000'000ns}) {
            QVERIFY(refreshPeriod(work) > 1s);
            QVERIFY(work * 10 <= refreshPeriod(work));
        }
    }

    void showsTheTraceSoFar() {
        Recording recording;
        LiveFollower follower(recording.live);
        QSignalSpy refreshed(&follower, &LiveFollower::refreshed);
        follower.start();
        QTRY_COMPARE_WITH_TIMEOUT(refreshed.size(), 1, patienceMs);
        const auto trace = refreshed[0][0].value<TracePtr>();
        QCOMPARE(trace->kernels.size(), simulatedTraining({.steps = 3})->kernels.size());
        QCOMPARE(trace->path, recording.live.finished);
    }

    void endIsDetectedDuringALongPause() {
        Recording recording;
        LiveFollower follower(recording.live);
        QSignalSpy refreshed(&follower, &LiveFollower::refreshed);
        QSignalSpy finished(&follower, &LiveFollower::finished);
        follower.start();
        QTRY_COMPARE_WITH_TIMEOUT(refreshed.size(), 1, patienceMs);
        // The display took so long that the next refresh is far away.
        useCpuTime(500ms);
        follower.noteShown();
        recording.finish();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, patienceMs);
        QCOMPARE(finished[0][0].value<TracePtr>()->path, recording.live.finished);
    }

    void canBeDestroyedDuringAPause() {
        Recording recording;
        auto follower = std::make_unique<LiveFollower>(recording.live);
        QSignalSpy refreshed(follower.get(), &LiveFollower::refreshed);
        follower->start();
        QTRY_COMPARE_WITH_TIMEOUT(refreshed.size(), 1, patienceMs);
        follower.reset();
        // Its traces outlive it.
        QVERIFY(refreshed[0][0].value<TracePtr>()->kernels.size() > 0);
    }
};

LANESCOPE_TEST(TestLiveFollower, QApplication)
#include "tst_LiveFollower.moc"
