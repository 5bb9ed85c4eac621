// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "app/viewer/AppSettings.h"
#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/windowStyle.h"
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/openForWriting.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::viewer;

/// Measures the time from the request to compare two simulated traces to the answer on the screen,
/// and to the comparison of all events. LANESCOPE_BENCH_EVENTS is the minimum number of events per
/// trace; without it there are few, so that the test is fast.
class bench_ComparePreview : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void theAnswerIsThereAtOnce();

  private:
    static constexpr double maxSeconds = 0.3;
    static constexpr qint64 minEventsForClaim = 1'000'000, defaultEvents = 50'000;
    static constexpr int layers = 100;

    TemporaryFolder folder_;
    qint64 events_ = 0;
};

void bench_ComparePreview::initTestCase() {
    registerIcons();
    qint64 wanted = qEnvironmentVariableIntValue("LANESCOPE_BENCH_EVENTS");
    const bool isAsserted = qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") != 0;
    if (wanted <= 0) wanted = isAsserted ? minEventsForClaim : defaultEvents;
    const auto eventsIn = [](const Trace& trace) {
        return qint64{trace.kernels.size()} + trace.memcpys.size() + trace.memsets.size() + trace.apiCalls.size() +
               trace.nvtx.size();
    };
    for (const auto& [name, scale] : {std::pair("baseline", 1.0), std::pair("candidate", 1.03)}) {
        SimulatedTraining training{.steps = 10, .layers = layers, .kernelScale = scale};
        const qint64 eventsOfAStep = eventsIn(*simulatedTraining(training)) / training.steps;
        training.steps = static_cast<int>(std::max<qint64>(10, wanted / eventsOfAStep + 1));
        const TracePtr trace = simulatedTraining(training);
        QVERIFY(writeTraceFile(*trace, folder_ / name));
        const Result<RunSummary> summary = summarizeRun(*trace);
        QVERIFY(summary.has_value());
        {
            Result<Database> database = openForWriting(folder_ / name);
            QVERIFY(database.has_value());
            QVERIFY(writeRunSummary(*database, *summary).has_value());
        }
        QVERIFY(sealPages(folder_ / name).has_value());
        events_ = eventsIn(*trace);
        qInfo("%s: %lld events in %d steps", name, events_, training.steps);
    }
}

void bench_ComparePreview::theAnswerIsThereAtOnce() {
    AppSettings settings(QString::fromStdString((folder_ / "settings.ini").string()));
    ViewerOptions options{.files = {folder_ / "baseline", folder_ / "candidate"}, .isComparison = true};
    double bestSeconds = 1e9;
    for (int round = 0; round < 3; ++round) {
        MainWindow window(settings);
        window.resize(1440, 900);
        window.show();
        QCoreApplication::processEvents();
        QElapsedTimer timer;
        timer.start();
        window.open(options);
        auto* page = qobject_cast<LoadPage*>(window.tabs().currentWidget());
        QVERIFY(page);
        double answerSeconds = -1;
        connect(page, &LoadPage::answered, page, [&, page] {
            page->repaint();  // painted, too
            answerSeconds = static_cast<double>(timer.nsecsElapsed()) / 1e9;
        });
        QTRY_VERIFY_WITH_TIMEOUT(window.tabs().currentDocument(), 240'000);
        const double loadedSeconds = static_cast<double>(timer.nsecsElapsed()) / 1e9;
        auto* comparison = qobject_cast<ComparePage*>(window.tabs().currentDocument());
        QTRY_VERIFY_WITH_TIMEOUT(comparison->view().runs(), 240'000);
        qInfo("answer after %.3f s, traces read after %.3f s, compared after %.3f s", answerSeconds, loadedSeconds,
              static_cast<double>(timer.nsecsElapsed()) / 1e9);
        if (answerSeconds > 0) bestSeconds = std::min(bestSeconds, answerSeconds);
    }
    if (qEnvironmentVariableIntValue("LANESCOPE_BENCH_ASSERT") == 0) return;
    if (events_ < minEventsForClaim) return;
    QVERIFY(bestSeconds < maxSeconds);
}

QTEST_MAIN(bench_ComparePreview)
#include "bench_ComparePreview.moc"
