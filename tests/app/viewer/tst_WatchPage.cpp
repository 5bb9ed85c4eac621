// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>
#include <fstream>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/WatchPage.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;
namespace fs = std::filesystem;

/// The page of a watch's folder.
class tst_WatchPage : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;
    fs::path watch_ = folder_.path() / "lanescope-watch-train.py-1";

    void addSteps(int from, int count) const {
        std::ofstream steps(watch_ / "steps.jsonl", std::ios::app);
        for (int step = from; step < from + count; ++step) {
            const bool isSlow = step % 100 == 50;
            steps << R"({"time":)" << 1'790'000'000 + step / 4 << R"(,"step":)" << step
                  << R"(,"name":"step","rank":3,"ms":)" << (isSlow ? 90.5 : 60.25) << (isSlow ? ",\"slow\":true}" : "}")
                  << "\n";
        }
    }
    static void doubleClick(const WatchPage& page, const QString& name) {
        QTableView& table = page.currentTable()->table();
        for (int row = 0; row < table.model()->rowCount(); ++row) {
            const QModelIndex cell = table.model()->index(row, 0);
            if (cell.data() != name) continue;
            const QPoint place = table.visualRect(cell).center();
            QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, place);
            QTest::mouseDClick(table.viewport(), Qt::LeftButton, {}, place);
            return;
        }
        QFAIL(qPrintable(name + " is not listed."));
    }

  private slots:
    void initTestCase() {
        registerIcons();
        qputenv("XDG_CACHE_HOME", (folder_ / "cache").c_str());
        fs::create_directories(watch_);
        std::ofstream(watch_ / "metrics.prom")
            << "lanescope_recording_level{level=\"steps\"} 0\nlanescope_recording_level{level=\"all\"} "
               "1\nlanescope_hang 0\n# EOF\n";
        std::ofstream(watch_ / "hang-box-1.txt") << "Rank 3 has not entered AllReduce 1,482.\n";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 4}), watch_ / "slow-step-50.sqlite"));
        addSteps(0, 400);
    }

    void followsTheStepsAndOpensItsFiles() {
        ShownWindow shown;
        shown.open(watch_);
        auto* const page = qobject_cast<WatchPage*>(shown.window.tabs().currentDocument());
        QVERIFY(page);
        QCOMPARE(page->title(), QString("lanescope-watch-train.py-1"));
        const WatchChart& chart = child<WatchChart>(*page);
        QCOMPARE(chart.steps().size(), size_t{400});
        QCOMPARE(std::ranges::count_if(chart.steps(), &WatchChart::Step::isSlow), 4);
        QCOMPARE(chart.steps()[50].text, QString("step, number 50, rank 3: 90.5 ms"));
        QCOMPARE(chart.medianMilliseconds(), 60.25);
        const QLabel& state = child<WrappedLabel>(*page);
        QVERIFY2(state.text().startsWith("Watching · level all · 400 steps · median 60.3 ms"),
                 qPrintable(state.text()));

        addSteps(400, 20);
        std::ofstream(watch_ / "steps.jsonl", std::ios::app) << "{\"time\":1790000105,\"ms\":6";  // in writing
        std::ofstream(watch_ / "metrics.prom", std::ios::app) << "lanescope_hang 1\n";
        QTRY_COMPARE(chart.steps().size(), size_t{420});
        QTRY_VERIFY(state.text().endsWith("no progress"));
        std::ofstream(watch_ / "steps.jsonl", std::ios::app) << "1.5}\n";
        QTRY_COMPARE(chart.steps().size(), size_t{421});
        QCOMPARE(chart.steps().back().milliseconds, 61.5);

        doubleClick(*page, "hang-box-1.txt");
        QTRY_VERIFY(child<QPlainTextEdit>(*page).isVisible());
        QCOMPARE(child<QPlainTextEdit>(*page).toPlainText(), QString("Rank 3 has not entered AllReduce 1,482.\n"));
        doubleClick(*page, "slow-step-50.sqlite");
        QVERIFY(shown.wait());
        QVERIFY(shown.window.tabs().currentTrace());
        QCOMPARE(shown.window.tabs().count(), 2);
        // The folder's tab is found again.
        shown.open(watch_);
        QCOMPARE(shown.window.tabs().currentDocument(), page);

        // The file becomes steps.1.jsonl when it is full.
        fs::rename(watch_ / "steps.jsonl", watch_ / "steps.1.jsonl");
        addSteps(421, 5);
        QTRY_COMPARE(chart.steps().size(), size_t{426});
    }
};

LANESCOPE_TEST(tst_WatchPage, QApplication)
#include "tst_WatchPage.moc"
