// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentPage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/TracePage.h"
#include "model/export/traceFile.h"
#include "model/index/checkTrace.h"
#include "model/index/openTrace.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/WarningPanel.h"

using namespace lanescope;
using namespace lanescope::viewer;

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

class TestTraceLoader : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        trace_ = simulatedTraining({.steps = 2});
        QVERIFY(writeTraceFile(*trace_, folder_ / "good.lanescope").has_value());
        std::ofstream(folder_ / "bad.lanescope") << "this is no database";
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
        TraceLoader loader(folder_ / "good.lanescope");
        QSignalSpy loaded(&loader, &TraceLoader::loaded);
        QSignalSpy progressed(&loader, &TraceLoader::progressed);
        loader.start();
        QVERIFY(loaded.wait());
        const auto trace = loaded.front().front().value<TracePtr>();
        QCOMPARE(trace->kernels.size(), trace_->kernels.size());
        QVERIFY(progressed.count() > 0);
        QVERIFY(!loader.isRunning());
    }

    void unknownFileIsOneSentence() {
        TraceLoader loader(folder_ / "bad.lanescope");
        QSignalSpy failed(&loader, &TraceLoader::failed);
        loader.start();
        QVERIFY(failed.wait());
        QVERIFY(failed.front().front().toString().contains("bad.lanescope"));
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
        TraceLoader loader(folder_ / "good.lanescope");
        QSignalSpy loaded(&loader, &TraceLoader::loaded);
        QSignalSpy failed(&loader, &TraceLoader::failed);
        loader.start();
        loader.cancel();
        test::settle();
        QCOMPARE(loaded.count() + failed.count(), 0);
    }

    void mayBeDestroyedDuringReading() {
        int arrived = 0;
        for (int i = 0; i < 20; ++i) {
            TraceLoader loader(folder_ / "good.lanescope");
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
        TraceLoader loader(folder_ / "good.lanescope");
        QSignalSpy loaded(&loader, &TraceLoader::loaded);
        loader.start();
        QVERIFY(loaded.wait(30'000));
    }

    void destructionDoesNotWait() {
        // All threads are in use, including the reader's, so it has not begun when it is destroyed.
        const BusyPool pool(2);
        QElapsedTimer timer;
        {
            TraceLoader loader(folder_ / "good.lanescope");
            loader.start();
            timer.start();
        }
        QVERIFY2(timer.elapsed() < 1'000, qPrintable(QString::number(timer.elapsed())));
    }

    void pageShowsWhyAFileFailedAndCanBeClosed() {
        LoadPage page({folder_ / "bad.lanescope"});
        QSignalSpy failed(&page, &LoadPage::failed);
        QSignalSpy closed(&page, &LoadPage::closeRequested);
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

  private:
    TemporaryFolder folder_;
    TracePtr trace_;
};

LANESCOPE_TEST(TestTraceLoader, QApplication)
#include "tst_TraceLoader.moc"
