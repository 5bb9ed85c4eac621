// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/LoadPage.h"

#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/child.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/StepChart.h"
#include "views/compare/WaterfallChart.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::viewer;
using namespace lanescope::views;

class tst_LoadPage : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        write("a", 1.0, true);
        write("b", 1.5, true);
        write("a2", 1.01, false);
        write("b2", 1.51, false);
        write("plain-a", 1.0, false);
        write("plain-b", 1.5, false);
        std::ofstream(folder_ / "corrupt") << "SQLite format 3, or not";
    }

    void showsTheStoredAnswerDuringLoading() {
        LoadPage page(paths("a", "b"));
        QSignalSpy loaded(&page, &LoadPage::loaded);
        page.resize(1200, 800);
        page.show();
        QVERIFY(!page.preview().isVisible());
        page.start();
        QTRY_VERIFY_WITH_TIMEOUT(page.preview().isVisible(), patienceMs);
        QCOMPARE(loaded.count(), 0);
        QVERIFY2(page.preview().headline().headline().contains("longer"),
                 qPrintable(page.preview().headline().headline()));
        QVERIFY(!child<WaterfallChart>(page.preview()).parts().empty());
        QVERIFY(page.preview().steps().stepCount() >= 4);
        QVERIFY(page.preview().originText().contains("b is the first of"));
        // Above the progress and the Cancel button, which stay.
        const auto bottom = [&page](const QWidget& widget) {
            return widget.mapTo(&page, widget.rect().bottomLeft()).y();
        };
        QVERIFY(bar(page).isVisible() && button(page).isVisible());
        QVERIFY(bottom(page.preview()) < bottom(bar(page)));
        page.cancel();
    }

    void previewChartsAcceptKeysAndClicks() {
        LoadPage page(paths("a", "b"));
        page.resize(1200, 800);
        page.show();
        page.start();
        QTRY_VERIFY_WITH_TIMEOUT(page.preview().isVisible(), patienceMs);
        QTest::keyClick(&page.preview().steps(), Qt::Key_Home);
        QCOMPARE(page.preview().steps().chosen(), 0);
        QTest::keyClick(&page.preview().steps(), Qt::Key_Right);
        QCOMPARE(page.preview().steps().chosen(), 1);
        QTest::keyClick(&child<WaterfallChart>(page.preview()), Qt::Key_Right);
        QTest::keyClick(&child<WaterfallChart>(page.preview()), Qt::Key_Return);
        for (QWidget* part : page.preview().findChildren<QLabel*>())
            QVERIFY(part->focusPolicy() == Qt::NoFocus || !part->accessibleName().isEmpty());
        page.cancel();
    }

    void cancelEndsLoadingAndNothingArrivesLater() {
        LoadPage page(paths("a", "b"));
        QSignalSpy closed(&page, &LoadPage::closeRequested);
        QSignalSpy answered(&page, &LoadPage::answered);
        QSignalSpy loaded(&page, &LoadPage::loaded);
        page.show();
        page.start();
        QTest::mouseClick(&button(page), Qt::LeftButton);
        QCOMPARE(closed.count(), 1);
        page.cancel();
        test::settle();
        QCOMPARE(answered.count() + loaded.count(), 0);
    }

    void cancelWorksNextToThePreview() {
        DocumentTabs tabs;
        tabs.resize(1200, 800);
        tabs.show();
        tabs.openComparison(paths("a", "b"));
        auto* page = qobject_cast<LoadPage*>(tabs.currentWidget());
        QVERIFY(page);
        QTRY_VERIFY_WITH_TIMEOUT(page->preview().isVisible(), patienceMs);
        button(*page).setFocus();
        QTest::keyClick(&button(*page), Qt::Key_Space);
        QCOMPARE(tabs.count(), 0);
        test::settle();
        QVERIFY(tabs.documents().empty());
        QCOMPARE(tabs.count(), 0);
    }

    void documentReplacesThePreviewAndKeepsTheAnswer() {
        DocumentTabs tabs;
        tabs.resize(1200, 800);
        tabs.show();
        QString early;
        connect(&tabs, &DocumentTabs::documentAdded, this, [&early](DocumentPage* document) {
            early = qobject_cast<ComparePage*>(document)->view().headline().headline();
        });
        tabs.openComparison(paths("a", "b"));
        auto* page = qobject_cast<LoadPage*>(tabs.currentWidget());
        QTRY_VERIFY_WITH_TIMEOUT(page->preview().isVisible(), patienceMs);
        const QString previewed = page->preview().headline().headline();
        QTRY_VERIFY_WITH_TIMEOUT(tabs.currentDocument(), patienceMs);
        QCOMPARE(tabs.count(), 1);
        QCOMPARE(early, previewed);
        auto* comparison = qobject_cast<ComparePage*>(tabs.currentDocument());
        QVERIFY(comparison);
        QTRY_VERIFY_WITH_TIMEOUT(!comparison->isBusy(), patienceMs);
        QVERIFY(comparison->view().runs());
        QCOMPARE(comparison->view().headline().headline(), previewed);
    }

    void withoutStoredSummariesThereIsNoPreview_data() {
        QTest::addColumn<QString>("baseline");
        QTest::addColumn<QString>("candidate");
        QTest::newRow("neither") << "plain-a"
                                 << "plain-b";
        QTest::newRow("only the baseline") << "a"
                                           << "plain-b";
        QTest::newRow("only the candidate") << "plain-a"
                                            << "b";
    }

    void withoutStoredSummariesThereIsNoPreview() {
        QFETCH(QString, baseline);
        QFETCH(QString, candidate);
        LoadPage page({folder_.path() / baseline.toStdString(), folder_.path() / candidate.toStdString()});
        QSignalSpy loaded(&page, &LoadPage::loaded);
        QSignalSpy answered(&page, &LoadPage::answered);
        page.show();
        page.start();
        QVERIFY(loaded.wait(patienceMs));
        QCOMPARE(answered.count(), 0);
        QVERIFY(!page.preview().isVisible());
        QVERIFY(!page.storedComparison());
    }

    void oneTraceHasNoPreview() {
        LoadPage page({folder_ / "a"});
        QSignalSpy loaded(&page, &LoadPage::loaded);
        page.show();
        page.start();
        QVERIFY(loaded.wait(patienceMs));
        QVERIFY(!page.preview().isVisible());
    }

    void unreadableFileRemovesThePreview() {
        std::vector<std::filesystem::path> files = paths("a", "b");
        files.push_back(folder_ / "corrupt");
        LoadPage page(files);
        QSignalSpy failed(&page, &LoadPage::failed);
        page.show();
        page.start();
        QTRY_VERIFY_WITH_TIMEOUT(page.preview().isVisible(), patienceMs);
        QVERIFY(failed.wait(patienceMs));
        QVERIFY(!page.preview().isVisible());
        QVERIFY(page.errorText().contains("corrupt"));
    }

    void followsTheTheme() {
        DocumentTabs tabs;
        tabs.resize(1200, 800);
        tabs.setTheme(Theme::dark());
        tabs.show();
        tabs.openComparison(paths("a", "b"));
        auto* page = qobject_cast<LoadPage*>(tabs.currentWidget());
        QTRY_VERIFY_WITH_TIMEOUT(page->preview().isVisible(), patienceMs);
        const auto colour = [page] {
            QWidget& chart = child<WaterfallChart>(page->preview());
            return chart.grab().toImage().pixelColor(chart.width() / 2, 2);
        };
        QVERIFY(colour().lightness() < 100);
        tabs.setTheme(Theme::light());
        QVERIFY(colour().lightness() > 150);
    }

    void severalRunsPerSideOpenAsOneComparison() {
        DocumentTabs tabs;
        tabs.resize(1200, 800);
        tabs.show();
        const std::vector<std::filesystem::path> files{folder_ / "a", folder_ / "a2", folder_ / "b", folder_ / "b2"};
        tabs.openComparison(files, 2);
        QTRY_VERIFY_WITH_TIMEOUT(tabs.currentDocument(), patienceMs);
        auto* page = qobject_cast<ComparePage*>(tabs.currentDocument());
        QVERIFY(page && page->view().hasSets());
        QCOMPARE(page->view().baselineRuns().size(), size_t{2});
        QCOMPARE(page->view().candidateRuns().size(), size_t{2});
        QVERIFY2(page->title().contains("and another run against"), qPrintable(page->title()));
        QTRY_VERIFY_WITH_TIMEOUT(!page->isBusy(), patienceMs);
        const QString sentence = page->view().headline().headline();
        QVERIFY2(sentence.contains("2 against 2 runs"), qPrintable(sentence));
    }

  private:
    static constexpr int patienceMs = 60'000;
    /// So many candidates that the page still loads when the answer is there.
    static constexpr int candidates = 30;

    void write(const char* name, double scale, bool isStored) {
        const TracePtr trace = simulatedTraining({.steps = 30, .kernelScale = scale});
        QVERIFY(writeTraceFile(*trace, folder_ / name).has_value());
        if (!isStored) return;
        const Result<RunSummary> summary = summarizeRun(*trace);
        QVERIFY(summary.has_value());
        {
            Result<Database> database = openForWriting(folder_ / name);
            QVERIFY(database.has_value());
            QVERIFY(writeRunSummary(*database, *summary).has_value());
        }
        QVERIFY(sealPages(folder_ / name).has_value());
    }

    std::vector<std::filesystem::path> paths(const char* baseline, const char* candidate) const {
        std::vector<std::filesystem::path> all(candidates + 1, folder_ / candidate);
        all.front() = folder_ / baseline;
        return all;
    }

    static QProgressBar& bar(const LoadPage& page) { return *page.findChild<QProgressBar*>("reading"); }
    static QPushButton& button(const LoadPage& page) { return *page.findChild<QPushButton*>("leave"); }

    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_LoadPage, QApplication)
#include "tst_LoadPage.moc"
