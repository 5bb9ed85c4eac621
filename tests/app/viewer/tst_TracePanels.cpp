// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/MarkActions.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "model/notes/NotesFile.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/events/EventsPanel.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int patienceMs = 30'000;

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

}  // namespace

class TestTracePanels : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { registerIcons(); }
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
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QCOMPARE(found->notes.marks.size(), size_t(1));
    }

    void menuHasEveryCommandWithItsKey() {
        Shown shown(trace_);
        const MarkActions& actions = child<MarkActions>(shown.window);
        QVERIFY(actions.add->isEnabled());
        QVERIFY(!actions.next->isEnabled());
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
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QCOMPARE(found->notes.marks.size(), size_t(2));
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

  private:
    std::unique_ptr<TemporaryFolder> folder_;
    std::filesystem::path trace_;
};

LANESCOPE_TEST(TestTracePanels, QApplication)
#include "tst_TracePanels.moc"
