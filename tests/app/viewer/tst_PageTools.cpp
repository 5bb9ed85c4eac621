// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/MarkActions.h"
#include "app/viewer/PageTools.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/windowStyle.h"
#include "model/export/traceFile.h"
#include "model/notes/NotesFile.h"
#include "tests/support/TemporaryFolder.h"
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

struct Shown {
    explicit Shown(const std::filesystem::path& trace)
        : settings(folder.filePath("settings.ini")), window(settings) {
        window.resize(1300, 850);
        window.show();
        window.activateWindow();
        window.openFiles({QString::fromStdString(trace.string())});
        if (!QTest::qWaitFor([this] { return !window.isBusy(); }, patienceMs)) qFatal("no trace");
    }
    TracePage& page() { return *window.tabs().currentTrace(); }
    PageTools& tools() { return page().tools(); }
    TimelineView& timeline() { return page().timeline(); }
    void show(LazyTab& tab) { page().tables().setCurrentWidget(&tab); }
    void write(const char* text) {
        QTest::keyClicks(&tools().marks().editor().text(), text);
        QTest::keyClick(&tools().marks().editor().text(), Qt::Key_Return);
    }
    QTemporaryDir folder;
    AppSettings settings;
    MainWindow window;
};

}  // namespace

class TestPageTools : public QObject {
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
        const MarkActions& marks = shown.window.markActions();
        for (const QAction* action : {marks.add, marks.edit, marks.remove, marks.next,
                                      marks.previous, marks.undo, marks.redo})
            QVERIFY2(keys.contains(ShortcutSheet::keysOf(*action)), qPrintable(action->text()));
    }

    void mCreatesAMarkThatIsSaved() {
        {
            Shown shown(trace_);
            shown.timeline().setFocus();
            shown.timeline().setSelectedRange(TimeRange{1'000'000, 3'000'000});
            QTest::keyClick(&shown.timeline(), Qt::Key_M);
            QVERIFY(shown.tools().marks().editor().isVisible());
            shown.write("the slow step");
            QTRY_VERIFY(!shown.tools().keeper().isBusy());
            QVERIFY(std::filesystem::exists(trace_.string() + ".lanescope-notes.json"));
        }
        Shown again(trace_);
        const auto& marks = again.tools().markStore().marks();
        QCOMPARE(marks.size(), size_t(1));
        QCOMPARE(marks[0].text, std::string("the slow step"));
        QCOMPARE(
            again.page().tables().tabText(again.page().tables().indexOf(&again.tools().marksTab())),
            QString("Marks (1)"));
    }

    void mInATextFieldIsALetter() {
        Shown shown(trace_);
        shown.show(shown.tools().eventsTab());
        QLineEdit& edit = shown.tools().events().wordsEdit();
        edit.setFocus();
        QTest::keyClicks(&edit, "memcpy m");
        QCOMPARE(edit.text(), QString("memcpy m"));
        QVERIFY(!shown.tools().marks().editor().isVisible());
    }

    void deleteAndUndoByKey() {
        Shown shown(trace_);
        shown.timeline().setFocus();
        QTest::keyClick(&shown.timeline(), Qt::Key_M);
        shown.write("a");
        MarkStore& store = shown.tools().markStore();
        QCOMPARE(store.marks().size(), size_t(1));
        QVERIFY(shown.timeline().hasFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_Delete);
        QCOMPARE(store.marks().size(), size_t(0));
        QTest::keyClick(&shown.timeline(), Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(store.marks().size(), size_t(1));
        QTRY_VERIFY(!shown.tools().keeper().isBusy());
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QCOMPARE(found->notes.marks.size(), size_t(1));
    }

    void menuHasEveryCommandWithItsKey() {
        Shown shown(trace_);
        const MarkActions& actions = shown.window.markActions();
        QVERIFY(actions.add->isEnabled());
        QVERIFY(!actions.next->isEnabled());
        QMenu* menu = nullptr;
        for (QAction* action : shown.window.menuBar()->actions())
            if (action->menu() && action->menu()->actions().contains(actions.add))
                menu = action->menu();
        QVERIFY(menu);
        for (QAction* action : {actions.edit, actions.remove, actions.next, actions.previous,
                                actions.undo, actions.redo}) {
            QVERIFY(menu->actions().contains(action));
            QVERIFY(!action->shortcut().isEmpty());
        }
    }

    void twoViewersOfOneTraceKeepEachOthersMarks() {
        Shown one(trace_), other(trace_);
        one.timeline().setFocus();
        one.timeline().setSelectedRange(TimeRange{1'000'000, 2'000'000});
        one.window.markActions().add->trigger();
        one.write("from one");
        QTRY_VERIFY(!one.tools().keeper().isBusy());
        other.timeline().setSelectedRange(TimeRange{3'000'000, 4'000'000});
        other.window.markActions().add->trigger();
        other.write("from the other");
        QTRY_COMPARE(other.tools().markStore().marks().size(), size_t(2));
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QCOMPARE(found->notes.marks.size(), size_t(2));
    }

    void unwrittenMarksAreWrittenAtClosing() {
        const std::filesystem::path notes = trace_.string() + ".lanescope-notes.json";
        {
            Shown shown(trace_);
            // A folder with the name of the notes blocks even root.
            std::filesystem::create_directory(notes);
            shown.timeline().setSelectedRange(TimeRange{1'000'000, 2'000'000});
            shown.window.markActions().add->trigger();
            shown.write("kept");
            QTRY_VERIFY_WITH_TIMEOUT(!shown.tools().keeper().isBusy(), patienceMs);
            QVERIFY(!shown.tools().marksPanel().remark().isEmpty());
            std::filesystem::remove(notes);
        }
        const auto found = NotesFile::forTrace(trace_, {}).read();
        QVERIFY(found.has_value());
        QCOMPARE(found->notes.marks.size(), size_t(1));
    }

    void corruptNotesAreReportedAndKept() {
        std::ofstream(trace_.string() + ".lanescope-notes.json") << "{ broken";
        Shown shown(trace_);
        QVERIFY(shown.tools().marksPanel().remark().contains("damaged"));
        QCOMPARE(shown.page().tables().currentWidget(),
                 static_cast<QWidget*>(&shown.tools().marksTab()));
        shown.window.markActions().add->trigger();
        shown.write("new");
        QTRY_VERIFY(!shown.tools().keeper().isBusy());
        QVERIFY(std::filesystem::exists(trace_.string() + ".lanescope-notes.json.damaged-1"));
        QVERIFY(shown.tools().marksPanel().remark().contains("damaged-1"));
    }

    void eventIsSelectedInTableAndTimeline() {
        Shown shown(trace_);
        EventsPanel& events = shown.tools().events();
        shown.show(shown.tools().eventsTab());
        QTRY_VERIFY(!events.isStale());
        QTest::mouseClick(events.table().viewport(), Qt::LeftButton, {},
                          events.table().visualRect(events.model().index(4, 2)).center());
        QCOMPARE(shown.timeline().selectedEvent(), events.model().eventAt(4));
        const EventRef event = events.model().eventAt(6);
        shown.timeline().setSelectedEvent(event);
        QCOMPARE(events.table().currentIndex().row(), 6);
    }

    void tableFollowsTheTimeline() {
        Shown shown(trace_);
        EventsPanel& events = shown.tools().events();
        shown.show(shown.tools().eventsTab());
        QTRY_VERIFY(!events.isStale());
        const int all = events.model().rowCount();
        VisibleRange& visible = *shown.timeline().visibleRange();
        const TimeRange range = visible.range();
        visible.setRange({range.startNs, range.startNs + range.durationNs() / 4});
        QTRY_VERIFY(events.model().rowCount() < all);
        const int visibleRows = events.model().rowCount();
        shown.timeline().setSelectedRange(
            TimeRange{range.startNs, range.startNs + range.durationNs() / 8});
        QTRY_VERIFY(events.model().rowCount() < visibleRows);
    }

    void answerRowLeadsToTheTimeline() {
        Shown shown(trace_);
        SqlPanel& sql = shown.tools().sql();
        shown.show(shown.tools().sqlTab());
        QTRY_VERIFY(!sql.isStale());
        sql.editor().setPlainText(
            "SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start DESC LIMIT 3");
        sql.editor().setFocus();
        QTest::keyClick(&sql.editor(), Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY(!sql.isStale());
        QTableView& answer = sql.answer().table();
        QTest::mouseClick(answer.viewport(), Qt::LeftButton, {},
                          answer.visualRect(answer.model()->index(0, 0)).center());
        QTest::keyClick(&answer, Qt::Key_Return);
        const auto& kernels = shown.page().trace()->kernels;
        const uint32_t last = kernels.size() - 1;
        const auto selected = shown.timeline().selectedRange();
        QVERIFY(selected.has_value());
        QCOMPARE(selected->startNs, int64_t{kernels.startNs[last]});
        QVERIFY(shown.timeline().visibleRange()->range().contains(selected->startNs));
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

LANESCOPE_TEST(TestPageTools, QApplication)
#include "tst_PageTools.moc"
