// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/Finder.h"
#include "app/viewer/FinderEntry.h"
#include "app/viewer/GoToBar.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/MarkActions.h"
#include "app/viewer/SearchBar.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/windowStyle.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/notes/MarkStore.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    explicit Shown(TracePtr trace = simulatedTraining({.steps = 12})) : ShownWindow(std::move(trace)) {}
    bool press(Qt::Key key) {
        if (!waitForFocus()) return false;
        QTest::keyClick(&timeline(), key, Qt::ControlModifier);
        return true;
    }
    /// Types into the finder and waits until all names have been searched.
    bool find(const QString& text) {
        if (!press(Qt::Key_P)) return false;
        QTest::keyClicks(&finder().edit(), text);
        return QTest::qWaitFor([this] { return !finder().model().isSearching(); });
    }
    Finder& finder() { return child<Finder>(window); }
    QString first() { return finder().model().index(0).data().toString(); }
    bool goTo(const QString& text) {
        if (!press(Qt::Key_G)) return false;
        QTest::keyClicks(&child<GoToBar>(window).edit(), text);
        QTest::keyClick(&child<GoToBar>(window).edit(), Qt::Key_Return);
        return true;
    }
    TimeRange visible() { return timeline().state().range().axis().range(); }
};

}  // namespace

class TestFinder : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        registerIcons();
        // Marks of traces without a file are stored in the user's data folder.
        qputenv("XDG_DATA_HOME", QFile::encodeName(userData_.path()));
    }

    void modelPassesTheQtModelTester() {
        FinderModel model;
        const QAbstractItemModelTester tester(&model);
        model.setEntries({{"Zoom in", "View", "W", {}}, {"GPU 0", "GPU", {}, {}}});
        QCOMPARE(model.rowCount(), 0);
        model.setText({});
        QCOMPARE(model.rowCount(), 2);
        model.setText("gpu");
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.index(0).data(Qt::AccessibleTextRole).toString(), "GPU 0, GPU");
        model.setText("no such thing");
        QCOMPARE(model.rowCount(), 0);
        model.activate({});
    }

    void manyNamesArriveInPiecesAndTheBestAreKept() {
        auto names = std::make_shared<FinderNames>();
        for (int i = 0; i < 100'000; ++i) {
            names->names.push_back({"some_kernel_" + std::to_string(i), "kernel"});
            names->lowered.push_back(names->names.back().text);
        }
        FinderModel model;
        QString found;
        model.setNames(names, [&](const QString& name) { found = name; });
        model.setText("kernel_99999");
        QVERIFY(QTest::qWaitFor([&] { return !model.isSearching(); }));
        QCOMPARE(model.index(0).data().toString(), "some_kernel_99999");
        QVERIFY(model.rowCount() <= int(FinderModel::maxShown));
        model.activate(model.index(0));
        QCOMPARE(found, "some_kernel_99999");
        // A plain loop over all of them finds no better one.
        model.setText("kern 777");
        QVERIFY(QTest::qWaitFor([&] { return !model.isSearching(); }));
        int best = 0;
        const FuzzyPattern pattern("kern 777");
        for (const std::string& each : names->lowered) best = std::max(best, pattern.score(each));
        const std::string shown = model.index(0).data().toString().toStdString();
        QCOMPARE(pattern.score(shown), best);
    }

    void namesAreListedOnceWithTheirKind() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 10);
        builder.addKernel(builder.defaultStream(), "gemm", 20, 30);
        builder.addNvtx(builder.defaultThread(), "forward", 0, 50);
        builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 10);
        const FinderNames names = distinctNames(*builder.finish());
        QCOMPARE(names.names.size(), 3u);
        QCOMPARE(names.names[0].text, std::string("gemm"));
        QCOMPARE(QString(names.names[0].kind), "kernel");
        QCOMPARE(QString(names.names[1].kind), "NVTX range");
    }

    void commandIsFoundAndRun() {
        Shown shown;
        QVERIFY(shown.find("taller"));
        QCOMPARE(shown.first(), "Taller rows");
        QCOMPARE(shown.finder().model().index(0).data(FinderModel::KeyRole).toString(),
                 QKeySequence(Qt::CTRL | Qt::Key_Plus).toString(QKeySequence::NativeText));
        QTest::keyClick(&shown.finder().edit(), Qt::Key_Return);
        QVERIFY(!shown.finder().isVisible());
        QCOMPARE(shown.timeline().state().tracks().rowHeight(), RowHeight::Tall);
        QVERIFY(shown.timeline().hasFocus());
    }

    void markIsFoundByItsTextAndShown() {
        Shown shown;
        MarkStore& store = shown.window.tabs().currentTrace()->marks().store();
        const int64_t middleNs = shown.visible().startNs + shown.visible().durationNs() / 2;
        Mark mark = newMark({middleNs, middleNs + 1'000});
        mark.text = "odd stall";
        store.add(mark);
        QVERIFY(shown.find("odd stall"));
        QCOMPARE(shown.first(), "odd stall");
        QTest::keyClick(&shown.finder().edit(), Qt::Key_Return);
        QCOMPARE(store.selected(), mark.id);
        QVERIFY(shown.visible().overlaps(mark.range));
    }

    void tableIsFoundByItsTitle() {
        Shown shown;
        QVERIFY(shown.find("memcpy bandw"));
        QTest::keyClick(&shown.finder().edit(), Qt::Key_Return);
        QTabWidget& tables = shown.window.tabs().currentTrace()->tables();
        QCOMPARE(tables.tabText(tables.currentIndex()), "Memcpy bandwidth");
    }

    void trackIsFoundUnfoldedAndMadeCurrent() {
        Shown shown;
        shown.timeline().state().tracks().setAllFolded(true);
        const auto folded = shown.timeline().state().tracks().arrangement();
        QVERIFY(shown.find("stream nccl"));
        QVERIFY(shown.first().contains("tream"));
        QTest::keyClick(&shown.finder().edit(), Qt::Key_Return);
        QVERIFY(shown.timeline().state().tracks().arrangement() != folded);
        QTest::keyClick(&shown.timeline(), Qt::Key_P);
        QCOMPARE(shown.timeline().state().tracks().arrangement().pinned.size(), 1u);
    }

    void nameIsSearchedFor() {
        Shown shown;
        QVERIFY(shown.find("allreduce"));
        QTRY_VERIFY(shown.finder().model().rowCount() > 0);
        const QString name = shown.first();
        QTest::keyClick(&shown.finder().edit(), Qt::Key_Return);
        QCOMPARE(shown.window.searchBar().edit().text(), name);
        QTRY_VERIFY(shown.timeline().state().selection().event().isValid());
    }

    void cursorKeysChooseAndEscapeCloses() {
        Shown shown;
        QVERIFY(shown.press(Qt::Key_P));
        QLineEdit& edit = shown.finder().edit();
        QTest::keyClick(&edit, Qt::Key_Down);
        QTest::keyClick(&edit, Qt::Key_Down);
        QCOMPARE(child<QListView>(shown.finder()).currentIndex().row(), 2);
        QTest::keyClick(&edit, Qt::Key_Up);
        QCOMPARE(child<QListView>(shown.finder()).currentIndex().row(), 1);
        QTest::keyClick(&edit, Qt::Key_PageUp);
        QCOMPARE(child<QListView>(shown.finder()).currentIndex().row(), 0);
        QTest::keyClick(&edit, Qt::Key_Escape);
        QVERIFY(!shown.finder().isVisible());
        QVERIFY(shown.timeline().hasFocus());
    }

    void goesToATimeARangeAndAPercentage() {
        Shown shown;
        const TimeRange all = shown.timeline().trace()->range;
        QVERIFY(shown.goTo("10 ms..20 ms"));
        QVERIFY(!child<GoToBar>(shown.window).isVisible());
        QVERIFY(shown.visible().startNs <= 10'000'000 && shown.visible().endNs >= 20'000'000);
        QVERIFY(shown.visible().durationNs() < 15'000'000);
        const auto middle = [&] { return shown.visible().startNs + shown.visible().durationNs() / 2; };
        QVERIFY(shown.goTo("50 %"));
        QVERIFY(std::abs(middle() - (all.startNs + all.durationNs() / 2)) < 1'000'000);
        const int64_t before = middle();
        QVERIFY(shown.goTo("+350 us"));
        QCOMPARE(middle(), before + 350'000);
    }

    void goesToAStep() {
        Shown shown;
        QVERIFY(shown.goTo("#step 7"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        const TimeRange seventh = shown.visible();
        QVERIFY(shown.goTo("#step 8"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        QVERIFY(shown.visible().startNs > seventh.startNs);
        QVERIFY(shown.goTo("step 7"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        QCOMPARE(shown.visible(), seventh);
        QVERIFY(shown.goTo("slowest"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        QVERIFY(shown.visible() != seventh);
        QVERIFY(shown.goTo("#step 4711"));
        QTRY_VERIFY(child<GoToBar>(shown.window).remark().contains("There is no step 4711"));
    }

    void errorsAreShownInPlace() {
        Shown shown;
        QTRY_VERIFY(!shown.window.isBusy());
        const TimeRange before = shown.visible();
        QVERIFY(shown.goTo("soon"));
        QVERIFY(child<GoToBar>(shown.window).isVisible());
        QVERIFY(child<GoToBar>(shown.window).remark().contains("is no time"));
        QVERIFY(!QApplication::activeModalWidget());
        QTest::keyClick(&child<GoToBar>(shown.window).edit(), Qt::Key_Escape);
        QVERIFY(!child<GoToBar>(shown.window).isVisible());
        QCOMPARE(shown.visible(), before);
    }

  private:
    QTemporaryDir userData_;
};

LANESCOPE_TEST(TestFinder, QApplication)
#include "tst_Finder.moc"
