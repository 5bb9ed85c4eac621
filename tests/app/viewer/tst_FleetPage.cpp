// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/FleetPage.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/viewState.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/child.h"
#include "tests/support/fleetReport.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/fleet/FleetMap.h"
#include "views/fleet/FleetView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;
namespace fs = std::filesystem;

namespace {

struct Shown : ShownWindow {
    explicit Shown(const fs::path& file) : ShownWindow(QSize(1366, 768)) {
        open(file);
        wait();
    }
    /// Calls `take` with the page of an excerpt when it begins to load, which may end at once.
    void whenLoading(std::function<void(LoadPage*)> take) {
        QObject::connect(page(), &FleetPage::openRequested, &window,
                         [this, take] { take(qobject_cast<LoadPage*>(window.tabs().currentWidget())); });
    }
    FleetPage* page() const { return qobject_cast<FleetPage*>(window.tabs().currentDocument()); }
    QPushButton* answer() const { return child<OfferBar>(*page()).findChild<QPushButton*>(); }
};

}  // namespace

class TestFleetPage : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        registerIcons();
        fs::create_directories(folder_ / "traces");
        qputenv("XDG_CACHE_HOME", (folder_ / "cache").c_str());
        report_ = folder_ / "fleet.sqlite";
        const ReportMaker maker{.ranks = 4, .perMachine = 4, .steps = 8, .firstStep = 0, .culprit = 3};
        maker.write(report_);
        // One recorder per machine: its trace contains all ranks there.
        editReport(report_, "UPDATE ranks SET trace = 'all.sqlite'");
        trace_ = folder_ / "traces" / "all.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 8, .gpuCount = 4}), trace_));
    }

    void reportOpensAsAMap() {
        Shown shown(report_);
        QVERIFY(shown.page());
        QCOMPARE(shown.page()->title(), QString("fleet.sqlite"));
        QVERIFY(shown.page()->view().map().hasFocus());
        QVERIFY(child<RecentFiles>(shown.window).paths().contains(QString::fromStdString(report_.string())));
        // Commands for timelines are off here.
        QVERIFY(!shown.window.actions().goTo->isEnabled() && !shown.window.searchBar().isEnabled());
        shown.window.actions().finder->trigger();
        QTest::keyClick(&shown.window, Qt::Key_Escape);
        for (QAction* action : shown.window.actions().timelineActions()) action->trigger();
        // A second time opens the same tab.
        shown.window.openFiles({QString::fromStdString(report_.string())});
        QCOMPARE(shown.window.tabs().count(), 1);
    }

    void copiedCommandOpensTheReport() {
        Shown shown(report_);
        QVERIFY(shown.page());
        shown.window.actions().copyCommand->trigger();
        QCOMPARE(QGuiApplication::clipboard()->text(),
                 QString("lanescope-viewer ") + QString::fromStdString(report_.string()));
        const Result<void> applied = applyView(shown.window, ViewOptions{.step = 1});
        QVERIFY(!applied.has_value());
        QVERIFY(applied.error().sentence.find("report of many ranks") != std::string::npos);
    }

    void missingTracesAreNamedAndTheirFolderRequested() {
        Shown shown(report_);
        FleetPage* page = shown.page();
        int asked = 0;
        page->setFolderChooser([&asked] {
            ++asked;
            return fs::path();
        });
        QTest::mouseClick(&child<QPushButton>(page->view(), "openFindings"), Qt::LeftButton);
        QVERIFY(shown.wait());
        QVERIFY(child<OfferBar>(*page).isVisible());
        QVERIFY(child<OfferBar>(*page).question().startsWith("all.sqlite, the trace of rank 3, is not in "));
        QTest::mouseClick(shown.answer(), Qt::LeftButton);
        QCOMPARE(test::listed(asked, shown.window.tabs().count()), "1 | 1");
        page->setFolderChooser([this] { return folder_ / "traces"; });
        QTest::mouseClick(&child<QPushButton>(page->view(), "openFindings"), Qt::LeftButton);
        QVERIFY(shown.wait());
        QTest::mouseClick(shown.answer(), Qt::LeftButton);
        QVERIFY(shown.wait());
        TracePage* trace = shown.window.tabs().currentTrace();
        QVERIFY(trace);
        QCOMPARE(trace->trace()->processes.size(), size_t{3});  // ranks 3, 2 and 1
        QVERIFY(!child<OfferBar>(*page).isVisible());
        // No file is left next to the trace.
        QCOMPARE(std::distance(fs::directory_iterator(folder_ / "traces"), fs::directory_iterator()), ptrdiff_t{1});
        // The excerpt is no recent file.
        QCOMPARE(child<RecentFiles>(shown.window).paths().size(), qsizetype{1});
    }

    void folderElsewhereIsRequested() {
        const fs::path reports = folder_ / "reports";
        fs::create_directories(reports);
        fs::copy_file(report_, reports / "far.sqlite");
        editReport(reports / "far.sqlite",
                   "DELETE FROM job; INSERT INTO job VALUES ('" + (folder_ / "traces").string() + "')");
        Shown shown(reports / "far.sqlite");
        FleetPage* page = shown.page();
        QTest::mouseClick(&child<QPushButton>(page->view(), "openFindings"), Qt::LeftButton);
        QVERIFY(shown.wait());
        QVERIFY(child<OfferBar>(*page).question().contains("which is not below its own folder"));
        QCOMPARE(shown.window.tabs().count(), 1);
        const QList<QPushButton*> answers = child<OfferBar>(*page).findChildren<QPushButton*>();
        const auto there = std::find_if(answers.begin(), answers.end(),
                                        [](QPushButton* each) { return each->text() == "Read them there"; });
        QVERIFY(there != answers.end());
        QTest::mouseClick(*there, Qt::LeftButton);
        QTRY_VERIFY(!page->isBusy());
        QVERIFY(shown.wait() && shown.window.tabs().currentTrace());
    }

    void rubberBandOpensRanksAndStepsAsOneTrace() {
        editReport(report_, "DELETE FROM job; INSERT INTO job VALUES ('" + (folder_ / "traces").string() + "')");
        Shown shown(report_);
        FleetPage* page = shown.page();
        FleetMap& map = page->view().map();
        const QPoint from = map.rectOf({0, 2}).center().toPoint(), to = map.rectOf({1, 4}).center().toPoint();
        QTest::mousePress(&map, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, to, map.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(&map, &move);
        QTest::mouseRelease(&map, Qt::LeftButton, {}, to);
        QCOMPARE(shown.window.tabs().count(), 1);  // nothing opens without a request
        QString title;
        shown.whenLoading([&title](LoadPage* loading) { title = loading ? loading->title() : ""; });
        QTest::keyClick(&map, Qt::Key_Return);
        QVERIFY(shown.wait());
        QCOMPARE(title, QString("ranks 0-1, steps 2-4"));
        TracePage* trace = shown.window.tabs().currentTrace();
        QVERIFY(trace);
        const Trace& shownTrace = *trace->trace();
        QCOMPARE(shownTrace.processes.size(), size_t{2});
        QVERIFY(shownTrace.kernels.size() > 0);
        std::set<std::string> names;
        for (uint32_t row = 0; row < shownTrace.nvtx.size(); ++row)
            names.emplace(shownTrace.strings.at(shownTrace.nvtx.text[row]));
        QVERIFY(names.contains("step 3") && !names.contains("step 1") && !names.contains("step 6"));
        // The file is private.
        QCOMPARE(fs::status(shownTrace.path).permissions() & fs::perms::all,
                 fs::perms::owner_read | fs::perms::owner_write);
    }

    void excerptIsCancelledByItsTab() {
        Shown shown(report_);
        QTest::keyClick(&shown.page()->view().findings(), Qt::Key_Down);
        bool isLoading = false;
        shown.whenLoading([&isLoading](LoadPage* loading) {
            isLoading = loading != nullptr;
            if (loading) QTest::mouseClick(loading->findChild<QPushButton*>("leave"), Qt::LeftButton);
        });
        QTest::keyClick(&shown.page()->view().findings(), Qt::Key_Return);
        QTRY_VERIFY(isLoading);
        QCOMPARE(shown.window.tabs().count(), 1);
        QVERIFY(shown.page());
    }

    void tooManyRanksAreRefused() {
        const fs::path many = folder_ / "many.sqlite";
        ReportMaker{.ranks = 64, .perMachine = 8, .steps = 4, .firstStep = 0, .culprit = 3}.write(many);
        Shown shown(many);
        FleetMap& map = shown.page()->view().map();
        FleetSelection all;
        for (size_t row = 0; row < 64; ++row) all.rows.push_back(row);
        map.select(all);
        map.setFocus();
        QTest::keyClick(&map, Qt::Key_Return);
        QCOMPARE(child<OfferBar>(*shown.page()).question(),
                 QString("64 ranks are marked, and 32 at most open as one trace: mark fewer."));
    }

    /// No earlier request opens with the current selection either.
    void laterRefusalAppliesToAPendingSearch() {
        Shown shown(report_);
        FleetPage* page = shown.page();
        int opened = 0;
        connect(page, &FleetPage::openRequested, page, [&opened] { ++opened; });
        emit page->view().openRequested({0, 1}, {});
        emit page->view().openRequested(std::vector<size_t>(FleetPage::maxRanks + 1), {});
        QVERIFY(child<OfferBar>(*page).question().contains("mark fewer"));
        QTRY_VERIFY(!page->isBusy());
        QCOMPARE(opened, 0);
        QVERIFY(child<OfferBar>(*page).question().contains("mark fewer"));
    }

    void reportIsNoSideOfAComparison() {
        Shown shown(report_);
        shown.window.openComparison(
            {QString::fromStdString(report_.string()), QString::fromStdString(trace_.string())});
        QVERIFY(shown.wait());
        auto* loading = qobject_cast<LoadPage*>(shown.window.tabs().currentWidget());
        QVERIFY(loading && loading->errorText().contains("is a report of many ranks and no trace"));
    }

    void smallWindowStaysSmall() {
        Shown shown(report_);
        shown.window.resize(700, 480);
        test::settle();
        QCOMPARE(shown.window.size(), QSize(700, 480));
        shown.window.grab();
    }

    void hostileReportIsOneSentence() {
        const fs::path broken = folder_ / "broken.sqlite";
        ReportMaker{}.write(broken);
        editReport(broken, "DROP TABLE steps");
        Shown shown(broken);
        auto* loading = qobject_cast<LoadPage*>(shown.window.tabs().currentWidget());
        QVERIFY(loading && loading->errorText().contains("the table steps is missing"));
    }

  private:
    TemporaryFolder folder_;
    fs::path report_, trace_;
};

LANESCOPE_TEST(TestFleetPage, QApplication)
#include "tst_FleetPage.moc"
