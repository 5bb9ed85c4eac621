// SPDX-License-Identifier: GPL-3.0-or-later
#include <signal.h>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/RemoteKeeper.h"
#include "app/viewer/TracePage.h"
#include "model/export/traceFile.h"
#include "model/remote/RemoteTrace.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;

/// Traces on other machines in the window, with a program that stands in for ssh.
class tst_RemotePage : public QObject {
    Q_OBJECT

    static constexpr int patienceMs = 60'000;
    TemporaryFolder folder_;
    std::filesystem::path path_;

    std::filesystem::path address() const { return "ssh://host" + path_.string(); }
    /// Makes the program; it writes the number of the server's process.
    void makeSsh(const std::string& script) const {
        std::ofstream(folder_ / "ssh")
            << "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nPATH=" LANESCOPE_BINARY_DIR "/bin:$PATH\n"
            << script << "\n";
        std::filesystem::permissions(folder_ / "ssh", std::filesystem::perms::owner_all);
    }

  private slots:
    void initTestCase() {
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((folder_ / "cache").string()));
        path_ = folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 20, .layers = 12}), path_).has_value());
    }

    void brokenLineIsReportedAndConnectedAgain() {
        makeSsh("echo $$ > " + (folder_ / "pid").string() + "; exec sh -c \"exec $3\"");
        DocumentTabs tabs;
        tabs.resize(1200, 800);
        tabs.setSsh({(folder_ / "ssh").string()});
        tabs.show();
        tabs.openTrace(address());
        QTRY_VERIFY_WITH_TIMEOUT(tabs.currentTrace(), patienceMs);
        TracePage* page = tabs.currentTrace();
        QTRY_VERIFY_WITH_TIMEOUT(!page->isBusy(), patienceMs);
        QVERIFY(page->remote() && page->remote()->text().isEmpty());
        QCOMPARE(page->title(), QString("run.sqlite"));
        QVERIFY(::kill(std::stoi(contentOf(folder_ / "pid")), SIGKILL) == 0);
        QTRY_VERIFY_WITH_TIMEOUT(page->remote()->text().contains("the connection is broken"), patienceMs);
        page->timeline().grab();  // The window keeps what it has.
        const TimeRange visible = page->timeline().state().range().visible();
        page->remote()->connectAgain();
        QTRY_VERIFY_WITH_TIMEOUT(page->remote()->text().isEmpty(), patienceMs);
        QVERIFY(remoteOf(*page->trace())->problem().empty());
        QCOMPARE(page->timeline().state().range().visible(), visible);
        QTRY_VERIFY_WITH_TIMEOUT(!page->isBusy(), patienceMs);
    }

    /// Measures a large trace: LANESCOPE_REMOTE_ADDRESS is opened by the words of LANESCOPE_REMOTE_SSH.
    void pictureTimes() {
        const QString large = qEnvironmentVariable("LANESCOPE_REMOTE_ADDRESS");
        if (large.isEmpty()) QSKIP("LANESCOPE_REMOTE_ADDRESS is not set.");
        std::vector<std::string> words;
        for (const QString& word : qEnvironmentVariable("LANESCOPE_REMOTE_SSH").split(' ', Qt::SkipEmptyParts))
            words.push_back(word.toStdString());
        DocumentTabs tabs;
        tabs.resize(1600, 1000);
        tabs.setSsh(words);
        tabs.show();
        QElapsedTimer clock;
        clock.start();
        tabs.openTrace(large.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(tabs.currentTrace(), patienceMs);
        const qint64 openedMs = clock.elapsed();
        TracePage* page = tabs.currentTrace();
        page->grab();
        const auto remote = remoteOf(*page->trace());
        const auto traffic = [&] { return remote ? remote->traffic() : RemoteIndex::Traffic{}; };
        qInfo("first picture: %lld ms, opened after %lld ms, %.2f MB, %llu waits", clock.elapsed(), openedMs,
              double(traffic().bytes) / 1e6, static_cast<unsigned long long>(traffic().waits));
        QTRY_VERIFY_WITH_TIMEOUT(!page->isBusy(), 10 * patienceMs);
        page->grab();
        qInfo("everything: %lld ms, %.2f MB, %llu waits", clock.elapsed(), double(traffic().bytes) / 1e6,
              static_cast<unsigned long long>(traffic().waits));
        views::VisibleRange& axis = page->timeline().state().range().axis();
        const TimeRange whole = axis.limits();
        std::mt19937 random(3);
        for (const int rest : {300, 0}) {
            std::vector<double> times;
            const auto before = traffic();
            for (int place = 0; place < 8; ++place) {
                axis.setRange(whole);
                TimeRange range = whole;
                const double at = double(random() % 1000) / 1000;
                const auto step = [&](TimeRange to) {
                    axis.setRange(to);
                    QElapsedTimer frame;
                    frame.start();
                    page->timeline().grab();
                    times.push_back(double(frame.nsecsElapsed()) / 1e6);
                    if (rest > 0) QTest::qWait(rest);
                    range = to;
                };
                while (range.durationNs() > 20'000'000) {
                    const int64_t length = range.durationNs() * 2 / 3;
                    const int64_t start = whole.startNs + int64_t(double(whole.durationNs() - length) * at);
                    step({start, start + length});
                }
                for (int pan = 0; pan < 10; ++pan) step(range.shifted(range.durationNs() / 4));
            }
            std::ranges::sort(times);
            qInfo("pan and zoom, %d ms rest: %zu frames, median %.1f ms, p95 %.1f ms, max %.1f ms, %.2f MB, %llu waits",
                  rest, times.size(), times[times.size() / 2], times[times.size() * 95 / 100], times.back(),
                  double(traffic().bytes - before.bytes) / 1e6,
                  static_cast<unsigned long long>(traffic().waits - before.waits));
        }
    }

    void refusedLoginIsASentence() {
        makeSsh("echo Permission denied >&2; exit 255");
        DocumentTabs tabs;
        tabs.setSsh({(folder_ / "ssh").string()});
        tabs.openTrace(address());
        auto* page = qobject_cast<LoadPage*>(tabs.currentWidget());
        QVERIFY(page);
        QTRY_VERIFY_WITH_TIMEOUT(page->errorText().contains("Permission denied"), patienceMs);
    }

    void addressThatSshCouldMisreadIsRefused() {
        DocumentTabs tabs;
        tabs.openTrace("ssh://-oProxyCommand=x/run.sqlite");
        auto* page = qobject_cast<LoadPage*>(tabs.currentWidget());
        QVERIFY(page);
        QTRY_VERIFY_WITH_TIMEOUT(page->errorText().contains("Write ssh://"), patienceMs);
    }
};

LANESCOPE_TEST(tst_RemotePage, QApplication)
#include "tst_RemotePage.moc"
