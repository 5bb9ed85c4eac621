// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <QApplication>
#include <QtWidgets>
#include <csignal>
#include <ctime>

#include "app/viewer/LiveFollower.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "model/importers/TraceFormat.h"
#include "model/remote/RemoteTrace.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/sanitizers.h"
#include "tests/support/simulatedTraining.h"
#include "views/notes/MarkStore.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;
using namespace std::chrono_literals;

namespace {

constexpr int patienceMs = 60'000;

/// `lanescope record` on a program that uses only NVTX, a step every tenth of a second, until it is terminated.
struct Recording {
    Recording() {
        constexpr int steps = 10'000;
        process.setWorkingDirectory(folder.path());
        process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                      {"record", "--agent", LANESCOPE_BINARY_DIR "/lib/liblanescope-agent.so", "-o", "out.sqlite", "--",
                       LANESCOPE_BINARY_DIR "/bin/standin-training", "--steps", QString::number(steps), "--step-ms",
                       "100", "--driver", "0"});
    }
    ~Recording() {
        process.terminate();
        if (!process.waitForFinished(patienceMs)) abandon();
        process.waitForFinished(patienceMs);
        for (const pid_t orphan : orphans) ::kill(orphan, SIGKILL);
    }
    QString in(const char* name) const { return folder.filePath(name); }
    bool waitForBegin() const {
        return QTest::qWaitFor([this] { return QFile::exists(in("out.sqlite.partial")); }, patienceMs);
    }
    /// Ends `record` at once. Its program continues, as on a user's machine, until the end of the test.
    void abandon() {
        addDescendants(process.processId());
        process.kill();
    }
    void addDescendants(qint64 pid) {
        QFile children(QString("/proc/%1/task/%1/children").arg(pid));
        if (!children.open(QIODevice::ReadOnly)) return;
        for (const QByteArray& child : children.readAll().split(' '))
            if (const int number = child.trimmed().toInt(); number > 0) {
                orphans.push_back(number);
                addDescendants(number);
            }
    }
    QTemporaryDir folder;
    QProcess process;
    std::vector<pid_t> orphans;
};

struct Shown : ShownWindow {
    TracePage* page() { return window.tabs().currentTrace(); }
    uint32_t ranges() { return page()->trace()->nvtx.size(); }
};

/// A trace during recording: under a temporary name, and with a lock in the folder of its logs.
struct LockedRecording {
    LockedRecording() {
        if (!writeTraceFile(*simulatedTraining({.steps = 3}), live.partial)) qFatal("no trace");
        std::filesystem::create_directory(logFolderOf(live));
        const std::filesystem::path locked = logFolderOf(live) / "session.json";
        lock = ::open(locked.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) qFatal("no lock");
    }
    ~LockedRecording() { release(); }
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

class tst_LiveTrace : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { registerIcons(); }

    void followsARecordingToItsEnd() {
        Recording recording;
        QVERIFY(recording.waitForBegin());
        Shown shown;
        shown.window.openFiles({recording.in("out.sqlite")});
        QTRY_VERIFY_WITH_TIMEOUT(shown.page() && shown.ranges() > 3, patienceMs);
        LiveBar* bar = shown.page()->liveBar();
        QVERIFY(bar && bar->isVisible());
        QVERIFY2(bar->text().startsWith("Recording… ") && bar->text().endsWith(" so far"), qPrintable(bar->text()));
        QVERIFY2(bar->height() < 2 * child<QPushButton>(*bar).fontMetrics().height(),
                 "a line, and not a third of the timeline");
        // More events arrive, and all of them stay visible.
        const uint32_t before = shown.ranges();
        QTRY_VERIFY_WITH_TIMEOUT(shown.ranges() > before, patienceMs);
        QVERIFY(shown.page()->timeline().state().range().axis().isFitted());
        QVERIFY(bar->isFollowing());

        // When zoomed in, the view moves with the end and keeps its width.
        QVERIFY(!shown.page()->timeline().history().canGoBack());
        VisibleRange& visible = shown.page()->timeline().state().range().axis();
        shown.page()->timeline().setFocus();
        const TimeRange limits = visible.limits();
        visible.setRange({limits.endNs - 200'000'000, limits.endNs});
        QVERIFY(bar->isFollowing());
        const TimeRange close = visible.range();
        QTRY_VERIFY_WITH_TIMEOUT(visible.range().startNs > close.startNs, patienceMs);
        QCOMPARE(visible.range().durationNs(), close.durationNs());

        // A user who navigates elsewhere stays there, with marks and selection.
        const TimeRange early{limits.startNs, limits.startNs + 100'000'000};
        visible.setRange(early);
        QVERIFY(!bar->isFollowing());
        const TimeRange there = visible.range();
        const EventRef event(EventKind::Nvtx, 1);
        const TimeRange eventRange = shown.page()->trace()->rangeOf(event);
        shown.page()->timeline().state().selection().setEvent(event);
        shown.page()->timeline().state().selection().setRange(early);
        Mark mark = newMark(early);
        mark.text = "while it ran";
        shown.page()->marks().store().add(mark);
        const uint32_t now = shown.ranges();
        QTRY_VERIFY_WITH_TIMEOUT(shown.ranges() > now, patienceMs);
        QCOMPARE(visible.range(), there);
        QCOMPARE(shown.page()->timeline().state().selection().range().value_or(TimeRange()), early);
        QCOMPARE(shown.page()->trace()->rangeOf(shown.page()->timeline().state().selection().event()), eventRange);

        // The button returns to the end.
        QTest::mouseClick(&child<QPushButton>(*bar), Qt::LeftButton);
        QVERIFY(bar->isFollowing());
        QVERIFY(visible.range().endNs >= shown.page()->trace()->range.endNs);

        if (test::hasThreadSanitizer)
            QSKIP("The sanitizer of g++ 12 holds a signal back from a thread in waitpid, as record.");
        // The finished trace replaces it automatically.
        recording.process.terminate();
        QTRY_VERIFY_WITH_TIMEOUT(!bar->isVisible(), patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(recording.process.state(), QProcess::NotRunning, patienceMs);
        QCOMPARE(recording.process.exitCode(), 128 + SIGTERM);
        const auto finished = loadTrace(recording.in("out.sqlite").toStdString());
        QVERIFY(finished.has_value());
        QCOMPARE(shown.ranges(), (*finished)->nvtx.size());
        QCOMPARE(shown.page()->marks().store().marks().size(), size_t(1));
        QVERIFY(!QFile::exists(recording.in("out.sqlite.partial")));
        QVERIFY(!QFile::exists(recording.in("out.sqlite.partial-wal")));
        QVERIFY(QFile::exists(recording.in("out.sqlite.lanescope-notes.json")));
    }

    void reportsAnAbandonedRecording() {
        Recording recording;
        QVERIFY(recording.waitForBegin());
        Shown shown;
        shown.window.openFiles({recording.in("out.sqlite.partial")});
        QTRY_VERIFY_WITH_TIMEOUT(shown.page() && shown.ranges() > 3, patienceMs);
        QCOMPARE(shown.page()->title(), QString("out.sqlite"));
        recording.abandon();
        QTRY_VERIFY2_WITH_TIMEOUT(shown.page()->liveBar()->text().contains("lanescope recover"),
                                  qPrintable(shown.page()->liveBar()->text()), patienceMs);
        QVERIFY(shown.page()->liveBar()->isVisible());
    }

    void followsARecordingOnAnotherMachine() {
        Recording recording;
        QVERIFY(recording.waitForBegin());
        // A stand-in for ssh, which runs the command for the host here.
        QFile ssh(recording.in("ssh"));
        QVERIFY(ssh.open(QIODevice::WriteOnly));
        ssh.write("#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nPATH=" LANESCOPE_BINARY_DIR
                  "/bin:$PATH\nexec sh -c \"exec $3\"\n");
        ssh.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        ssh.close();
        DocumentTabs tabs;
        tabs.setSsh({ssh.fileName().toStdString()});
        tabs.show();
        tabs.openTrace(("ssh://host" + recording.in("out.sqlite")).toStdString());
        const auto ranges = [&] { return tabs.currentTrace()->trace()->nvtx.size(); };
        QTRY_VERIFY_WITH_TIMEOUT(tabs.currentTrace() && ranges() > 3, patienceMs);
        const LiveBar* bar = tabs.currentTrace()->liveBar();
        QVERIFY(bar && bar->isVisible());
        const uint32_t before = ranges();
        QTRY_VERIFY_WITH_TIMEOUT(ranges() > before, patienceMs);
        if (test::hasThreadSanitizer)
            QSKIP("The sanitizer of g++ 12 holds a signal back from a thread in waitpid, as record.");
        recording.process.terminate();
        QTRY_VERIFY_WITH_TIMEOUT(!bar->isVisible(), patienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(recording.process.state(), QProcess::NotRunning, patienceMs);
        const auto finished = loadTrace(recording.in("out.sqlite").toStdString());
        QVERIFY(finished.has_value());
        QCOMPARE(ranges(), (*finished)->nvtx.size());
        QVERIFY(remoteOf(*tabs.currentTrace()->trace()));
    }

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
        LockedRecording recording;
        LiveFollower follower(recording.live);
        QSignalSpy refreshed(&follower, &LiveFollower::refreshed);
        follower.start();
        QTRY_COMPARE_WITH_TIMEOUT(refreshed.size(), 1, patienceMs);
        const auto trace = refreshed[0][0].value<TracePtr>();
        QCOMPARE(trace->kernels.size(), simulatedTraining({.steps = 3})->kernels.size());
        QCOMPARE(trace->path, recording.live.finished);
    }

    void endIsDetectedDuringALongPause() {
        LockedRecording recording;
        LiveFollower follower(recording.live);
        QSignalSpy refreshed(&follower, &LiveFollower::refreshed), finished(&follower, &LiveFollower::finished);
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
        LockedRecording recording;
        auto follower = std::make_unique<LiveFollower>(recording.live);
        QSignalSpy refreshed(follower.get(), &LiveFollower::refreshed);
        follower->start();
        QTRY_COMPARE_WITH_TIMEOUT(refreshed.size(), 1, patienceMs);
        follower.reset();
        // Its traces outlive it.
        QVERIFY(refreshed[0][0].value<TracePtr>()->kernels.size() > 0);
    }
};

LANESCOPE_TEST(tst_LiveTrace, QApplication)
#include "tst_LiveTrace.moc"
