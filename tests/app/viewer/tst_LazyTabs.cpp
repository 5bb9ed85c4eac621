// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/MarkActions.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/exportDocument.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/events/EventsPanel.h"
#include "views/flame/FlamePanel.h"
#include "views/notes/MarkStore.h"
#include "views/notes/MarksPanel.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int patienceMs = 60'000;

struct Shown : ShownWindow {
    Shown() {
        // From a file, because marks are stored next to it.
        const std::filesystem::path file = folder.filePath("run.sqlite").toStdString();
        if (!writeTraceFile(*simulatedTraining({.steps = 3}), file)) qFatal("no trace");
        open(file);
        if (!QTest::qWaitFor([this] { return window.tabs().currentTrace(); }, patienceMs)) qFatal("not opened");
    }
    TraceTables& tables() { return page().tables(); }
    LazyTab* tab(const QString& title) {
        for (int index = 0; index < tables().count(); ++index)
            if (tables().tabText(index).startsWith(title)) return qobject_cast<LazyTab*>(tables().widget(index));
        return nullptr;
    }
    template <class T>
    T* panelIn(const QString& title) {
        return qobject_cast<T*>(tab(title)->content());
    }
    void chooseKernels() {
        QTabBar* bar = tables().tabBar();
        const int kernels = tables().indexOf(tab("Kernels"));
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(kernels).center());
    }
    void show(const QString& title) { tables().setCurrentWidget(tab(title)); }
    TimeRange someRange() {
        const TimeRange whole = page().trace()->range;
        return {whole.startNs + whole.durationNs() / 4, whole.startNs + whole.durationNs() / 2};
    }
};

int64_t totalTime(const TracePage& page) {
    int64_t total = 0;
    const ReportModel& model = page.currentTable()->model();
    for (int row = 0; row < model.rowCount(); ++row)
        total += model.index(row, 1).data(ReportModel::SortRole).toLongLong();
    return total;
}

}  // namespace

class TestLazyTabs : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        registerIcons();
        // Marks of traces without a file are stored in the user's data folder.
        qputenv("XDG_DATA_HOME", QFile::encodeName(userData_.path()));
    }

    void onlyTheTabInFrontHasContent() {
        Shown shown;
        // Otherwise it depends on the speed of the explanation which tab was shown before.
        shown.chooseKernels();
        QVERIFY(shown.wait());
        for (int index = 0; index < shown.tables().count(); ++index) {
            const auto* tab = qobject_cast<LazyTab*>(shown.tables().widget(index));
            QVERIFY(tab);
            QVERIFY2((tab->content() != nullptr) == (index == shown.tables().currentIndex()),
                     qPrintable(shown.tables().tabText(index)));
        }
    }

    void stepsAreShownFirst() {
        Shown shown;
        QVERIFY(shown.wait());
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Steps"));
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);
        // Only once: a user who then opens kernels stays there.
        shown.show("Kernels");
        shown.tables().suggest("steps");
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Kernels"));
    }

    void openedTableStaysOpen() {
        Shown shown;
        QVERIFY(!shown.page().guide().run());
        shown.chooseKernels();
        QVERIFY(shown.wait());
        QVERIFY(shown.page().guide().run());
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Kernels"));
    }

    void activeTableStaysOpenWhenStepsArrive() {
        Shown shown;
        QVERIFY(!shown.page().guide().run());
        const int before = shown.tables().currentIndex();
        auto* inside = new QWidget(shown.tables().currentWidget());
        emit qApp->focusChanged(nullptr, inside);
        QVERIFY(shown.wait());
        QVERIFY(shown.page().guide().run());
        QCOMPARE(shown.tables().currentIndex(), before);
    }

    void tabIsBusyUntilItsContentArrives() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("NVTX ranges");
        QVERIFY(!shown.tab("NVTX ranges")->content());
        QVERIFY(shown.window.isBusy());
        QVERIFY(!shown.page().currentTable());
        QVERIFY(shown.wait());
        QVERIFY(shown.panelIn<ReportPanel>("NVTX ranges")->isVisible());
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);
    }

    void tabLeftAtOnceStaysEmpty() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("Topology");
        shown.show("Kernels");
        test::settle();
        QVERIFY(!shown.tab("Topology")->content());
        shown.show("Topology");
        QTRY_VERIFY_WITH_TIMEOUT(shown.tab("Topology")->content(), patienceMs);
    }

    void lateTabUsesTheSelectedRange() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.page().timeline().state().selection().setRange(shown.someRange());
        shown.show("Memcpy bandwidth");
        QVERIFY(shown.wait());
        const auto* bandwidth = shown.panelIn<BandwidthPanel>("Memcpy bandwidth");
        QCOMPARE(child<ScopeChoice>(*bandwidth).counted().value_or(TimeRange()), shown.someRange());
        shown.show("NCCL");
        QVERIFY(shown.wait());
        const auto* nccl = shown.panelIn<ReportPanel>("NCCL");
        QVERIFY(nccl->view().remark().startsWith("Selected range"));
        shown.show("Selection");
        QVERIFY(shown.wait());
        QVERIFY(shown.page().currentTable());
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);

        // It follows like earlier tabs.
        shown.page().timeline().state().selection().setRange(std::nullopt);
        QVERIFY(!child<ScopeChoice>(*bandwidth).counted());
        QVERIFY(!shown.page().currentTable());
    }

    void flameGraphFollowsTheSelectionAndIsSearchedAndSaved() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("Flame");
        QVERIFY(shown.wait());
        auto* flame = shown.panelIn<FlamePanel>("Flame");
        const int64_t wholeNs = child<FlameChart>(*flame).tree()->totalNs();
        QVERIFY(wholeNs > 0);
        shown.page().timeline().state().selection().setRange(shown.someRange());
        QVERIFY(shown.wait());
        const FlameTreePtr tree = child<FlameChart>(*flame).tree();
        QVERIFY(tree->totalNs() > 0 && tree->totalNs() < wholeNs);

        uint32_t kernel = 0;
        while (tree->nodes()[kernel].childCount > 0) kernel = tree->childrenOf(kernel).front();
        const std::unique_ptr<QMenu> menu(flame->menuFor(kernel));
        for (QAction* action : menu->actions())
            if (action->text() == "Find on the timeline") action->trigger();
        QVERIFY(shown.wait());
        QCOMPARE(shown.page().hits().text().toStdString(), std::string(tree->nameOf(kernel)));
        QVERIFY(shown.page().hits().count() > 0);

        const auto contentOf = [&](const char* name) {
            const QString path = shown.folder.filePath(name);
            if (!exportFlameTo(*flame, path.toStdString())) return QByteArray();
            QFile file(path);
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        QVERIFY(contentOf("flame.svg").startsWith("<svg"));
        QVERIFY(contentOf("flame.folded").contains(";"));
        QVERIFY(!exportFlameTo(*flame, "/no such folder/flame.svg"));
    }

    void stackSearchNeedsStacks() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.page().hits().search("function:forward");
        QCOMPARE(shown.page().hits().error(), QString("There are no Python stacks to search by."));
        shown.page().hits().search("file:");
        QVERIFY(shown.page().hits().error().isEmpty());
    }

    void tablesFollowTheSelectedRange() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("Kernels");
        QVERIFY(shown.wait());
        const int64_t all = totalTime(shown.page());
        shown.page().timeline().state().selection().setRange(shown.someRange());
        QVERIFY(shown.wait());
        QVERIFY(totalTime(shown.page()) < all);
        shown.page().timeline().commands().clearSelection();
        QVERIFY(shown.wait());
        QCOMPARE(totalTime(shown.page()), all);
    }

    void kernelGroupingFollowsTheUserChoice() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("Kernels");
        QVERIFY(shown.wait());
        auto* kernels = shown.panelIn<ReportPanel>("Kernels");
        auto& choice = child<QComboBox>(*kernels);
        QCOMPARE(choice.currentText(), QString("By full name"));
        choice.setFocus();
        QTest::keyClick(&choice, Qt::Key_Down);
        QCOMPARE(choice.currentText(), QString("By family"));
        QVERIFY(shown.wait());
        QCOMPARE(QString::fromStdString(kernels->view().model().table().name), QString("cuda_gpu_kern_sum:family"));
        QVERIFY(kernels->view().model().rowCount() > 0);
    }

    void lateEventsUseTheViewAndTheSelectedEvent() {
        Shown shown;
        QVERIFY(shown.wait());
        TimelineView& timeline = shown.page().timeline();
        timeline.state().range().axis().setRange(shown.someRange());
        const EventRef event(EventKind::Kernel, shown.page().trace()->kernels.size() * 3 / 8);
        timeline.state().selection().setEvent(event);
        shown.show("Events");
        QVERIFY(shown.wait());
        auto& events = shown.tables().demand<EventsPanel>("events");
        QCOMPARE(events.request().range, timeline.state().range().axis().range());
        QCOMPARE(child<EventTableModel>(events).eventAt(child<QTableView>(events).currentIndex().row()), event);
    }

    void requestedContentIsCreatedWithoutBeingShown() {
        Shown shown;
        QVERIFY(shown.wait());
        auto& sql = shown.tables().demand<SqlPanel>("sql");
        QVERIFY(!sql.isVisible());
        QCOMPARE(sql.file(), shown.page().trace()->path);
        QCOMPARE(&shown.tables().demand<SqlPanel>("sql"), &sql);
        shown.show("SQL");
        QVERIFY(sql.isVisible());
    }

    void lateMarksShowTheSelectedOne() {
        Shown shown;
        QVERIFY(shown.wait());
        MarkStore& store = shown.page().marks().store();
        Mark first = newMark(shown.someRange());
        Mark second = newMark(shown.page().trace()->range);
        store.add(first);
        store.add(second);
        store.select(first.id);
        QVERIFY(shown.tab("Marks (2)"));
        QVERIFY(!shown.tab("Marks")->content());
        shown.show("Marks");
        QTRY_VERIFY_WITH_TIMEOUT(shown.tab("Marks")->content(), patienceMs);
        QCOMPARE(store.selected(), first.id);
    }

    void earlierHitsAreListed() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.page().showName("memcpy");
        QVERIFY(shown.wait());
        QVERIFY(shown.tab("Search results ("));
        shown.show("Search results");
        QVERIFY(shown.wait());
        QCOMPARE(qint64(shown.page().currentTable()->model().rowCount()), shown.page().hits().count());
    }

  private:
    QTemporaryDir userData_;
};

LANESCOPE_TEST(TestLazyTabs, QApplication)
#include "tst_LazyTabs.moc"
