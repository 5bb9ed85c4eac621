// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/TracePage.h"
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/checksums.h"
#include "model/index/checkTrace.h"
#include "model/index/openTrace.h"
#include "tests/support/child.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/WarningPanel.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

/// A pool with one thread, and jobs that run until destruction.
class BusyPool {
  public:
    explicit BusyPool(int jobs) : threads_(pool_.maxThreadCount()), jobs_(jobs) {
        pool_.waitForDone();
        pool_.setMaxThreadCount(1);
        for (int job = 0; job < jobs; ++job) pool_.start([this] { goOn_.acquire(); });
    }
    BusyPool(const BusyPool&) = delete;
    BusyPool& operator=(const BusyPool&) = delete;
    ~BusyPool() {
        goOn_.release(jobs_);
        pool_.waitForDone();
        pool_.setMaxThreadCount(threads_);
    }

  private:
    QThreadPool& pool_ = *QThreadPool::globalInstance();
    QSemaphore goOn_;
    int threads_, jobs_;
};

}  // namespace

class tst_LoadPage : public QObject {
    Q_OBJECT

    static constexpr int patienceMs = 60'000;
    /// So many candidates that the page still loads when the answer is there.
    static constexpr int candidates = 30;

    void write(const char* name, double scale, bool isStored) {
        const TracePtr trace = simulatedTraining({.steps = 30, .kernelScale = scale});
        QVERIFY(writeTraceFile(*trace, folder_ / name).has_value());
        if (!isStored) return;
        const RunSummary summary = test::orFail(summarizeRun(*trace));
        {
            Database database = test::orFail(openForWriting(folder_ / name));
            QVERIFY(writeRunSummary(database, summary).has_value());
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
    TracePtr trace_;

  private slots:
    void initTestCase() {
        write("a", 1.0, true);
        write("b", 1.5, true);
        write("a2", 1.01, false);
        write("b2", 1.51, false);
        write("plain-a", 1.0, false);
        write("plain-b", 1.5, false);
        std::ofstream(folder_ / "corrupt") << "SQLite format 3, or not";
        trace_ = simulatedTraining({.steps = 2});
        QVERIFY(writeTraceFile(*trace_, folder_ / "good.lanescope").has_value());
        std::ofstream(folder_ / "bad.lanescope") << "this is no database";
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
        QSignalSpy closed(&page, &LoadPage::closeRequested), answered(&page, &LoadPage::answered);
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
        QCOMPARE(test::listed(tabs.count(), early), test::listed(1, previewed));
        auto* comparison = qobject_cast<ComparePage*>(tabs.currentDocument());
        QVERIFY(comparison);
        QTRY_VERIFY_WITH_TIMEOUT(!comparison->isBusy(), patienceMs);
        QVERIFY(comparison->view().runs());
        QCOMPARE(comparison->view().headline().headline(), previewed);
    }

    void withoutStoredSummariesThereIsNoPreview_data() {
        const test::Rows<QString, QString> row;
        row("neither", "plain-a", "plain-b");
        row("only the baseline", "a", "plain-b");
        row("only the candidate", "plain-a", "b");
    }
    void withoutStoredSummariesThereIsNoPreview() {
        const auto [baseline, candidate] = test::row<QString, QString>();
        LoadPage page({folder_.path() / baseline.toStdString(), folder_.path() / candidate.toStdString()});
        QSignalSpy loaded(&page, &LoadPage::loaded), answered(&page, &LoadPage::answered);
        page.show();
        page.start();
        QVERIFY(loaded.wait(patienceMs));
        QCOMPARE(answered.count(), 0);
        QVERIFY(!page.preview().isVisible() && !page.storedComparison());
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
        QVERIFY(!page.preview().isVisible() && page.errorText().contains("corrupt"));
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
        QCOMPARE(test::listed(page->view().baselineRuns().size(), page->view().candidateRuns().size()), "2 | 2");
        QVERIFY2(page->title().contains("and another run against"), qPrintable(page->title()));
        QTRY_VERIFY_WITH_TIMEOUT(!page->isBusy(), patienceMs);
        const QString sentence = page->view().headline().headline();
        QVERIFY2(sentence.contains("2 against 2 runs"), qPrintable(sentence));
    }

    void corruptIndexIsReportedAndRemoved() {
        const auto path = folder_ / "indexed.lanescope";
        QVERIFY(writeTraceFile(*trace_, path).has_value());
        OpenOptions always;
        always.minBytes = 0;
        QVERIFY(openTrace(path, always).has_value());
        const auto index = indexPaths(path).front();
        {
            std::fstream file(index, std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(2000);
            const int byte = file.get();
            file.seekp(2000);
            file.put(static_cast<char>(byte ^ 1));
        }
        const Result<TracePtr> trace = openTrace(path, always);
        QVERIFY(trace && (*trace)->corruptBlocks != nullptr && !(*trace)->isCorrupt());
        TracePage page(*trace);
        page.show();
        QVERIFY(countCorruptBlocks(**trace) > 0);
        QTRY_COMPARE(child<views::WarningBar>(page).worst().code, HealthCode::IndexDamaged);
        QVERIFY(!std::filesystem::exists(index));
    }

    void deliversTheTraceOnThisThread() {
        TraceLoader loader({folder_ / "good.lanescope"});
        QSignalSpy loaded(&loader, &TraceLoader::loaded), progressed(&loader, &TraceLoader::progressed);
        loader.start();
        QVERIFY(loaded.wait());
        QCOMPARE(loaded.front().front().value<TracePtr>()->kernels.size(), trace_->kernels.size());
        QVERIFY(progressed.count() > 0);
        QVERIFY(!loader.isRunning());
    }

    void unknownFileIsOneSentence() {
        TraceLoader loader({folder_ / "bad.lanescope"});
        QSignalSpy failed(&loader, &TraceLoader::failed);
        loader.start();
        QVERIFY(failed.wait() && failed.front().front().toString().contains("bad.lanescope"));
    }

    void skippedFilesOfAFolderAreReportedAboveThePage() {
        const auto folder = folder_ / "twins";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "a.json")
            << R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm",
                "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"device": 0, "stream": 7}}]})";
        std::ofstream(folder / "a.json.gz") << "not read";
        DocumentTabs tabs;
        tabs.resize(900, 600);
        tabs.show();
        tabs.openTrace(folder);
        QVERIFY(QTest::qWaitFor([&tabs] { return tabs.currentTrace() != nullptr; }, 30'000));
        const auto* said = tabs.currentTrace()->findChild<OfferBar*>();
        QVERIFY(said && said->isVisible());
        QCOMPARE(said->question(),
                 "a.json.gz is skipped: the folder has it unpacked, too. Open it by itself to see it.");
        // A folder without such a file has no note.
        std::filesystem::remove(folder / "a.json.gz");
        std::filesystem::rename(folder, folder_ / "one");
        tabs.openTrace(folder_ / "one");
        QVERIFY(QTest::qWaitFor([&tabs] { return tabs.tracePages().size() == 2; }, 30'000));
        QVERIFY(!tabs.tracePages().back()->findChild<OfferBar*>());
    }

    void nothingArrivesAfterCancel() {
        TraceLoader loader({folder_ / "good.lanescope"});
        QSignalSpy loaded(&loader, &TraceLoader::loaded), failed(&loader, &TraceLoader::failed);
        loader.start();
        loader.cancel();
        test::settle();
        QCOMPARE(loaded.count() + failed.count(), 0);
    }

    void mayBeDestroyedDuringReading() {
        int arrived = 0;
        for (int i = 0; i < 20; ++i) {
            TraceLoader loader({folder_ / "good.lanescope"});
            const auto count = [&arrived] { ++arrived; };
            connect(&loader, &TraceLoader::loaded, this, count);
            connect(&loader, &TraceLoader::failed, this, count);
            connect(&loader, &TraceLoader::progressed, this, count);
            loader.start();
        }
        test::settle();
        QCOMPARE(arrived, 0);
        // The threads reserved for reading are released.
        QCOMPARE(QThreadPool::globalInstance()->activeThreadCount(), 0);
    }

    void doesNotWaitForShortJobs() {
        const BusyPool pool(1);
        TraceLoader loader({folder_ / "good.lanescope"});
        QSignalSpy loaded(&loader, &TraceLoader::loaded);
        loader.start();
        QVERIFY(loaded.wait(30'000));
    }

    void destructionDoesNotWait() {
        // All threads are in use, including the reader's, so it has not begun when it is destroyed.
        const BusyPool pool(2);
        QElapsedTimer timer;
        {
            TraceLoader loader({folder_ / "good.lanescope"});
            loader.start();
            timer.start();
        }
        QVERIFY2(timer.elapsed() < 1'000, qPrintable(QString::number(timer.elapsed())));
    }

    void pageShowsWhyAFileFailedAndCanBeClosed() {
        LoadPage page({folder_ / "bad.lanescope"});
        QSignalSpy failed(&page, &LoadPage::failed), closed(&page, &LoadPage::closeRequested);
        page.show();
        page.start();
        QVERIFY(failed.wait());
        QVERIFY(page.errorText().contains("bad.lanescope"));
        QVERIFY(!page.findChild<QProgressBar*>("reading")->isVisible());
        QTest::mouseClick(page.findChild<QPushButton*>("leave"), Qt::LeftButton);
        QCOMPARE(closed.count(), 1);
    }

    void pageReadsBothSidesOfAComparisonInOrder() {
        LoadPage page({folder_ / "good.lanescope", folder_ / "good.lanescope"});
        QSignalSpy loaded(&page, &LoadPage::loaded);
        page.start();
        QVERIFY(loaded.wait());
        QCOMPARE(loaded.front().front().value<std::vector<TracePtr>>().size(), size_t(2));
    }
};

LANESCOPE_TEST(tst_LoadPage, QApplication)
#include "tst_LoadPage.moc"
