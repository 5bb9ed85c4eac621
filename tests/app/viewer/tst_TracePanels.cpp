// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/exportDocument.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "model/notes/NotesFile.h"
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
#include "views/notes/TimelineMarks.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

struct Shown : ShownWindow {
    explicit Shown(const std::filesystem::path& trace) {
        window.activateWindow();
        open(trace);
        if (!wait()) qFatal("no trace");
    }
    PageMarks& marks() { return page().marks(); }
    LazyTab& tab(const QString& name) { return page().tables().tab(name); }
    /// Creates a panel and brings it to the front.
    template <class T>
    T& show(const QString& name) {
        T& panel = page().tables().demand<T>(name);
        page().tables().setCurrentWidget(&tab(name));
        return panel;
    }
    QString remark() { return page().tables().demand<MarksPanel>("marks").remark(); }
    void write(const char* text) {
        QTest::keyClicks(&marks().onTimeline().editor().text(), text);
        QTest::keyClick(&marks().onTimeline().editor().text(), Qt::Key_Return);
    }
};

constexpr int patienceMs = 60'000;

struct ShownTabs : ShownWindow {
    ShownTabs() {
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

class tst_TracePanels : public QObject {
    Q_OBJECT

    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path trace_;

    QTemporaryDir userData_;

  private slots:
    void initTestCase() {
        registerIcons();
        registerIcons();
        // Marks of traces without a file are stored in the user's data folder.
        qputenv("XDG_DATA_HOME", QFile::encodeName(userData_.path()));
    }

    void init() {
        folder_ = std::make_unique<TemporaryFolder>();
        trace_ = *folder_ / "run.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), trace_).has_value());
    }

    void keySheetListsEveryKeyOfMarks() {
        Shown shown(trace_);
        const ShortcutSheet sheet(shown.window.actions(), &shown.window);
        QStringList keys;
        for (const QLabel* label : sheet.findChildren<QLabel*>()) keys << label->text();
        const MarkActions& marks = child<MarkActions>(shown.window);
        for (const QAction* action :
             {marks.add, marks.edit, marks.remove, marks.next, marks.previous, marks.undo, marks.redo})
            QVERIFY2(keys.contains(ShortcutSheet::keysOf(*action)), qPrintable(action->text()));
    }

    void mCreatesAMarkThatIsSaved() {
        {
            Shown shown(trace_);
            shown.timeline().setFocus();
            shown.timeline().state().selection().setRange(TimeRange{1'000'000, 3'000'000});
            QTest::keyClick(&shown.timeline(), Qt::Key_M);
            QVERIFY(shown.marks().onTimeline().editor().isVisible());
            shown.write("the slow step");
            QTRY_VERIFY(!shown.marks().keeper().isBusy());
            QVERIFY(std::filesystem::exists(trace_.string() + ".lanescope-notes.json"));
        }
        Shown again(trace_);
        const auto& marks = again.marks().store().marks();
        QCOMPARE(marks.size(), size_t(1));
        QCOMPARE(marks[0].text, std::string("the slow step"));
        QCOMPARE(again.page().tables().tabText(again.page().tables().indexOf(&again.tab("marks"))),
                 QString("Marks (1)"));
    }

    void mInATextFieldIsALetter() {
        Shown shown(trace_);
        auto& edit = child<QLineEdit>(shown.show<EventsPanel>("events"));
        edit.setFocus();
        QTest::keyClicks(&edit, "memcpy m");
        QCOMPARE(edit.text(), QString("memcpy m"));
        QVERIFY(!shown.marks().onTimeline().editor().isVisible());
    }

    void deleteAndUndoByKey() {
        Shown shown(trace_);
        shown.timeline().setFocus();
        QTest::keyClick(&shown.timeline(), Qt::Key_M);
        shown.write("a");
        MarkStore& store = shown.marks().store();
        QCOMPARE(store.marks().size(), size_t(1));
        QVERIFY(shown.timeline().hasFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_Delete);
        QCOMPARE(store.marks().size(), size_t(0));
        QTest::keyClick(&shown.timeline(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(store.marks().size(), size_t(1));
        QTRY_VERIFY(!shown.marks().keeper().isBusy());
        QCOMPARE(NotesFile::forTrace(trace_, {}).read()->notes.marks.size(), size_t(1));
    }

    void menuHasEveryCommandWithItsKey() {
        Shown shown(trace_);
        const MarkActions& actions = child<MarkActions>(shown.window);
        QVERIFY(actions.add->isEnabled() && !actions.next->isEnabled());
        QMenu* menu = nullptr;
        for (QAction* action : shown.window.menuBar()->actions())
            if (action->menu() && action->menu()->actions().contains(actions.add)) menu = action->menu();
        QVERIFY(menu);
        for (QAction* action :
             {actions.edit, actions.remove, actions.next, actions.previous, actions.undo, actions.redo}) {
            QVERIFY(menu->actions().contains(action));
            QVERIFY(!action->shortcut().isEmpty());
        }
    }

    void twoViewersOfOneTraceKeepEachOthersMarks() {
        Shown one(trace_), other(trace_);
        one.timeline().setFocus();
        one.timeline().state().selection().setRange(TimeRange{1'000'000, 2'000'000});
        child<MarkActions>(one.window).add->trigger();
        one.write("from one");
        QTRY_VERIFY(!one.marks().keeper().isBusy());
        other.timeline().state().selection().setRange(TimeRange{3'000'000, 4'000'000});
        child<MarkActions>(other.window).add->trigger();
        other.write("from the other");
        QTRY_COMPARE(other.marks().store().marks().size(), size_t(2));
        QCOMPARE(NotesFile::forTrace(trace_, {}).read()->notes.marks.size(), size_t(2));
    }

    void unwrittenMarksAreWrittenAtClosing() {
        const std::filesystem::path notes = trace_.string() + ".lanescope-notes.json";
        {
            Shown shown(trace_);
            // A folder with the name of the notes blocks even root.
            std::filesystem::create_directory(notes);
            shown.timeline().state().selection().setRange(TimeRange{1'000'000, 2'000'000});
            child<MarkActions>(shown.window).add->trigger();
            shown.write("kept");
            QTRY_VERIFY_WITH_TIMEOUT(!shown.marks().keeper().isBusy(), patienceMs);
            QVERIFY(!shown.remark().isEmpty());
            std::filesystem::remove(notes);
        }
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QVERIFY(found.has_value());
        QCOMPARE(found->notes.marks.size(), size_t(1));
    }

    void corruptNotesAreReportedAndKept() {
        std::ofstream(trace_.string() + ".lanescope-notes.json") << "{ broken";
        Shown shown(trace_);
        QVERIFY(shown.remark().contains("corrupt"));
        QCOMPARE(shown.page().tables().currentWidget(), static_cast<QWidget*>(&shown.tab("marks")));
        child<MarkActions>(shown.window).add->trigger();
        shown.write("new");
        QTRY_VERIFY(!shown.marks().keeper().isBusy());
        QVERIFY(std::filesystem::exists(trace_.string() + ".lanescope-notes.json.damaged-1"));
        QVERIFY(shown.remark().contains("damaged-1"));
    }

    void eventIsSelectedInTableAndTimeline() {
        Shown shown(trace_);
        auto& events = shown.show<EventsPanel>("events");
        QTRY_VERIFY(!events.isStale());
        QTest::mouseClick(child<QTableView>(events).viewport(), Qt::LeftButton, {},
                          child<QTableView>(events).visualRect(child<EventTableModel>(events).index(4, 2)).center());
        QCOMPARE(shown.timeline().state().selection().event(), child<EventTableModel>(events).eventAt(4));
        const EventRef event = child<EventTableModel>(events).eventAt(6);
        shown.timeline().state().selection().setEvent(event);
        QCOMPARE(child<QTableView>(events).currentIndex().row(), 6);
    }

    void tableFollowsTheTimeline() {
        Shown shown(trace_);
        auto& events = shown.show<EventsPanel>("events");
        QTRY_VERIFY(!events.isStale());
        const int all = child<EventTableModel>(events).rowCount();
        VisibleRange& visible = shown.timeline().state().range().axis();
        const TimeRange range = visible.range();
        visible.setRange({range.startNs, range.startNs + range.durationNs() / 4});
        QTRY_VERIFY(child<EventTableModel>(events).rowCount() < all);
        const int visibleRows = child<EventTableModel>(events).rowCount();
        shown.timeline().state().selection().setRange(TimeRange{range.startNs, range.startNs + range.durationNs() / 8});
        QTRY_VERIFY(child<EventTableModel>(events).rowCount() < visibleRows);
    }

    void answerRowLeadsToTheTimeline() {
        Shown shown(trace_);
        auto& sql = shown.show<SqlPanel>("sql");
        QTRY_VERIFY(!sql.isStale());
        sql.editor().setPlainText("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start DESC LIMIT 3");
        sql.editor().setFocus();
        QTest::keyClick(&sql.editor(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!sql.isStale());
        QTableView& answer = child<ReportView>(sql).table();
        QTest::mouseClick(answer.viewport(), Qt::LeftButton, {},
                          answer.visualRect(answer.model()->index(0, 0)).center());
        QTest::keyClick(&answer, Qt::Key_Return);
        const auto& kernels = shown.page().trace()->kernels;
        const uint32_t last = kernels.size() - 1;
        const auto selected = shown.timeline().state().selection().range();
        QVERIFY(selected.has_value());
        QCOMPARE(selected->startNs, int64_t{kernels.startNs[last]});
        QVERIFY(shown.timeline().state().range().axis().range().contains(selected->startNs));
    }

    void queriesAreRemembered() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        settings.setQueries({"SELECT 1"});
        QCOMPARE(AppSettings(folder.filePath("settings.ini")).queries(), QStringList("SELECT 1"));
    }

    void onlyTheTabInFrontHasContent() {
        ShownTabs shown;
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
        ShownTabs shown;
        QVERIFY(shown.wait());
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Steps"));
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);
        // Only once: a user who then opens kernels stays there.
        shown.show("Kernels");
        shown.tables().suggest("steps");
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Kernels"));
    }

    void openedTableStaysOpen() {
        ShownTabs shown;
        QVERIFY(!shown.page().guide().run());
        shown.chooseKernels();
        QVERIFY(shown.wait() && shown.page().guide().run());
        QCOMPARE(shown.tables().currentWidget(), shown.tab("Kernels"));
    }

    void activeTableStaysOpenWhenStepsArrive() {
        ShownTabs shown;
        QVERIFY(!shown.page().guide().run());
        const int before = shown.tables().currentIndex();
        auto* inside = new QWidget(shown.tables().currentWidget());
        emit qApp->focusChanged(nullptr, inside);
        QVERIFY(shown.wait() && shown.page().guide().run());
        QCOMPARE(shown.tables().currentIndex(), before);
    }

    void tabIsBusyUntilItsContentArrives() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        shown.show("NVTX ranges");
        QVERIFY(!shown.tab("NVTX ranges")->content() && shown.window.isBusy() && !shown.page().currentTable());
        QVERIFY(shown.wait() && shown.panelIn<ReportPanel>("NVTX ranges")->isVisible());
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);
    }

    void tabLeftAtOnceStaysEmpty() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        shown.show("Topology");
        shown.show("Kernels");
        test::settle();
        QVERIFY(!shown.tab("Topology")->content());
        shown.show("Topology");
        QTRY_VERIFY_WITH_TIMEOUT(shown.tab("Topology")->content(), patienceMs);
    }

    void lateTabUsesTheSelectedRange() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        shown.page().timeline().state().selection().setRange(shown.someRange());
        shown.show("Memcpy bandwidth");
        QVERIFY(shown.wait());
        const auto* bandwidth = shown.panelIn<BandwidthPanel>("Memcpy bandwidth");
        QCOMPARE(child<ScopeChoice>(*bandwidth).counted().value_or(TimeRange()), shown.someRange());
        shown.show("NCCL");
        QVERIFY(shown.wait());
        QVERIFY(shown.panelIn<ReportPanel>("NCCL")->view().remark().startsWith("Selected range"));
        shown.show("Selection");
        QVERIFY(shown.wait() && shown.page().currentTable());
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);

        // It follows like earlier tabs.
        shown.page().timeline().state().selection().setRange(std::nullopt);
        QVERIFY(!child<ScopeChoice>(*bandwidth).counted());
        QVERIFY(!shown.page().currentTable());
    }

    void flameGraphFollowsTheSelectionAndIsSearchedAndSaved() {
        ShownTabs shown;
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
        QVERIFY(contentOf("flame.svg").startsWith("<svg") && contentOf("flame.folded").contains(";"));
        QVERIFY(!exportFlameTo(*flame, "/no such folder/flame.svg"));
    }

    void stackSearchNeedsStacks() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        shown.page().hits().search("function:forward");
        QCOMPARE(shown.page().hits().error(), QString("There are no Python stacks to search by."));
        shown.page().hits().search("file:");
        QVERIFY(shown.page().hits().error().isEmpty());
    }

    void tablesFollowTheSelectedRange() {
        ShownTabs shown;
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
        ShownTabs shown;
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
        ShownTabs shown;
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
        ShownTabs shown;
        QVERIFY(shown.wait());
        auto& sql = shown.tables().demand<SqlPanel>("sql");
        QVERIFY(!sql.isVisible());
        QCOMPARE(sql.file(), shown.page().trace()->path);
        QCOMPARE(&shown.tables().demand<SqlPanel>("sql"), &sql);
        shown.show("SQL");
        QVERIFY(sql.isVisible());
    }

    void lateMarksShowTheSelectedOne() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        MarkStore& store = shown.page().marks().store();
        Mark first = newMark(shown.someRange()), second = newMark(shown.page().trace()->range);
        store.add(first);
        store.add(second);
        store.select(first.id);
        QVERIFY(shown.tab("Marks (2)") && !shown.tab("Marks")->content());
        shown.show("Marks");
        QTRY_VERIFY_WITH_TIMEOUT(shown.tab("Marks")->content(), patienceMs);
        QCOMPARE(store.selected(), first.id);
    }

    void earlierHitsAreListed() {
        ShownTabs shown;
        QVERIFY(shown.wait());
        shown.page().showName("memcpy");
        QVERIFY(shown.wait() && shown.tab("Search results ("));
        shown.show("Search results");
        QVERIFY(shown.wait());
        QCOMPARE(qint64(shown.page().currentTable()->model().rowCount()), shown.page().hits().count());
    }
};

LANESCOPE_TEST(tst_TracePanels, QApplication)
#include "tst_TracePanels.moc"
