// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/Finder.h"
#include "app/viewer/GoToBar.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/notes/MarkStore.h"

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

struct Searched {
    Searched() {
        SimulatedTrace builder;
        for (int i = 0; i < 3; ++i) {
            builder.addKernel(builder.defaultStream(), "gemm", i * 1'000'000, i * 1'000'000 + 500'000);
        }
        builder.addKernel(builder.defaultStream(), "softmax", 3'000'000, 3'500'000);
        timeline.resize(900, 500);
        timeline.setTrace(builder.finish());
        bar.setNavigator(&navigator);
        timeline.show();
        bar.show();
    }
    bool wait(int count) {
        return QTest::qWaitFor([&] { return !navigator.isSearching() && navigator.count() == qint64(count); });
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&bar.edit(), key, modifiers); }
    TimelineView timeline;
    HitNavigator navigator{{&timeline}};
    SearchBar bar;
};

}  // namespace

class tst_Finder : public QObject {
    Q_OBJECT

    QTemporaryDir userData_;

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
        QCOMPARE(pattern.score(model.index(0).data().toString().toStdString()), best);
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
        QCOMPARE(test::listed(QString(names.names[0].kind), QString(names.names[1].kind)), "kernel | NVTX range");
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
        QVERIFY(shown.find("stream nccl") && shown.first().contains("tream"));
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
        QVERIFY(!shown.finder().isVisible() && shown.timeline().hasFocus());
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
        QVERIFY(shown.visible().startNs > seventh.startNs && shown.goTo("step 7"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        QCOMPARE(shown.visible(), seventh);
        QVERIFY(shown.goTo("slowest"));
        QTRY_VERIFY(!child<GoToBar>(shown.window).isVisible());
        QVERIFY(shown.visible() != seventh && shown.goTo("#step 4711"));
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

    void findsWhileTyping() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        QCOMPARE(searched.bar.countText(), QString("3 hits"));
        // Typing alone moves nothing.
        QVERIFY(!searched.timeline.state().selection().event().isValid());
    }

    void enterGoesFromHitToHitAndWrapsAround() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        for (const int expected : {0, 1, 2, 0}) {
            searched.key(Qt::Key_Return);
            QCOMPARE(searched.navigator.current(), qint64(expected));
            QCOMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, uint32_t(expected)));
            QCOMPARE(searched.bar.countText(), QString("%1 of 3").arg(expected + 1));
        }
    }

    void shiftEnterGoesBack() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.key(Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(searched.navigator.current(), qint64(2));
    }

    void enterAfterTypingWaitsForTheSearch() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, 3));
        QTRY_COMPARE(searched.bar.countText(), QString("1 of 1"));
    }

    void enterAfterAChangedTextGoesToTheNewHits() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        searched.bar.edit().setText("softmax");
        searched.key(Qt::Key_Return);
        QTRY_COMPARE(searched.timeline.state().selection().event(), EventRef(EventKind::Kernel, 3));
    }

    void firstStepStartsAtTheVisibleRange() {
        Searched searched;
        searched.timeline.state().range().axis().setRange({900'000, 2'600'000});
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(1));
    }

    void missingTextIsReported() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "nothing like this");
        QTRY_COMPARE(searched.bar.countText(), QString("no hits"));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(-1));
    }

    void toggleSearchesAnExpression() {
        Searched searched;
        child<QToolButton>(searched.bar, "expression").click();
        QVERIFY(child<QToolButton>(searched.bar, "expression").isChecked());
        QTest::keyClicks(&searched.bar.edit(), "^(soft|hard)max$");
        QVERIFY(searched.wait(1));
        QCOMPARE(searched.bar.countText(), QString("1 hit"));
        // The same text as a substring is another search.
        child<QToolButton>(searched.bar, "expression").click();
        QTRY_COMPARE(searched.bar.countText(), QString("no hits"));
    }

    void wrongExpressionIsExplained() {
        Searched searched;
        child<QToolButton>(searched.bar, "expression").click();
        QTest::keyClicks(&searched.bar.edit(), "gemm(");
        QTRY_VERIFY(searched.bar.countText().startsWith("Not a regular expression"));
        QCOMPARE(searched.navigator.count(), qint64(0));
        searched.key(Qt::Key_Return);
        QCOMPARE(searched.navigator.current(), qint64(-1));
        searched.key(Qt::Key_Backspace);
        QVERIFY(searched.wait(3));
        QCOMPARE(searched.bar.countText(), QString("3 hits"));
    }

    void hitsOfTwoTimelinesAreSortedByTime() {
        const auto traceAt = [](int64_t offsetNs) {
            SimulatedTrace builder;
            for (int i = 0; i < 4; ++i)
                builder.addKernel(builder.defaultStream(), "gemm", offsetNs + i * 1'000, offsetNs + i * 1'000 + 100);
            return builder.finish();
        };
        TimelineView first, second;
        first.setTrace(traceAt(0));
        second.setTrace(traceAt(5'500));
        second.state().range().setOrigin(5'000);
        HitNavigator navigator({&first, &second});
        navigator.search("gemm");
        QTRY_COMPARE(navigator.count(), qint64(8));
        QTRY_VERIFY(!navigator.isSearching());
        for (int index = 0; index < 8; ++index) {
            const HitNavigator::Hit hit = navigator.hit(index);
            QCOMPARE(hit.timeline, index % 2 == 0 ? &first : &second);
            QCOMPARE(hit.event, EventRef(EventKind::Kernel, uint32_t(index / 2)));
        }
    }

    void escapeClearsAndReturnsTheFocus() {
        Searched searched;
        QSignalSpy dismissed(&searched.bar, &SearchBar::dismissed);
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        searched.key(Qt::Key_Escape);
        QCOMPARE(test::listed(dismissed.count(), searched.navigator.count()), test::listed(1, qint64(0)));
        QVERIFY(searched.bar.countText().isEmpty());
    }

    void crossClears() {
        Searched searched;
        QTest::keyClicks(&searched.bar.edit(), "gemm");
        QVERIFY(searched.wait(3));
        QAction* cross = searched.bar.edit().actions().front();
        QVERIFY(cross->isVisible());
        cross->trigger();
        QTRY_COMPARE(searched.navigator.count(), qint64(0));
        QVERIFY(!cross->isVisible());
    }

    void withoutDocumentItIsOff() {
        SearchBar bar;
        QVERIFY(!bar.isEnabled());
        bar.next();
    }
};

LANESCOPE_TEST(tst_Finder, QApplication)
#include "tst_Finder.moc"
