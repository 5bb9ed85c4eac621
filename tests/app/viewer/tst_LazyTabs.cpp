// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QFile>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "app/viewer/AppSettings.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/MainWindow.h"
#include "app/viewer/PageTools.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "app/viewer/icons.h"
#include "model/export/traceFile.h"
#include "tests/support/TemporaryFolder.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/bandwidth/BandwidthPanel.h"
#include "views/events/EventTableModel.h"
#include "views/events/EventsPanel.h"
#include "views/notes/MarkStore.h"
#include "views/notes/MarksPanel.h"
#include "views/sql/SqlPanel.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/tables/ScopeChoice.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

constexpr int patienceMs = 60'000;

struct Shown {
    Shown() : settings(folder.filePath("settings.ini")), window(settings) {
        window.resize(1300, 850);
        window.show();
        // Of a file, since marks are kept beside it.
        const std::filesystem::path file = traceFolder / "run.sqlite";
        if (!writeTraceFile(*simulatedTraining({.steps = 3}), file)) qFatal("no trace");
        window.openFiles({QString::fromStdString(file.string())});
        if (!QTest::qWaitFor([this] { return window.tabs().currentTrace(); }, patienceMs))
            qFatal("not opened");
    }
    TracePage& page() { return *window.tabs().currentTrace(); }
    TraceTables& tables() { return page().tables(); }
    LazyTab* tab(const QString& title) {
        for (int index = 0; index < tables().count(); ++index)
            if (tables().tabText(index).startsWith(title))
                return qobject_cast<LazyTab*>(tables().widget(index));
        return nullptr;
    }
    template <class Panel>
    Panel* panelIn(const QString& title) {
        return qobject_cast<Panel*>(tab(title)->content());
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !window.isBusy(); }, patienceMs);
    }
    void show(const QString& title) { tables().setCurrentWidget(tab(title)); }
    TimeRange someRange() {
        const TimeRange whole = page().trace()->range;
        return {whole.startNs + whole.durationNs() / 4, whole.startNs + whole.durationNs() / 2};
    }
    TemporaryFolder traceFolder;
    QTemporaryDir folder;
    AppSettings settings;
    MainWindow window;
};

}  // namespace

class TestLazyTabs : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        registerIcons();
        // Marks of traces that are no files are kept with the user's own data.
        qputenv("XDG_DATA_HOME", QFile::encodeName(userData_.path()));
    }

    void onlyTheTabInFrontHasContent() {
        Shown shown;
        QVERIFY(shown.wait());
        for (int index = 0; index < shown.tables().count(); ++index) {
            const auto* tab = qobject_cast<LazyTab*>(shown.tables().widget(index));
            QVERIFY(tab);
            QVERIFY2((tab->content() != nullptr) == (index == shown.tables().currentIndex()),
                     qPrintable(shown.tables().tabText(index)));
        }
    }

    void aTabIsBusyUntilItsContentIsThere() {
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

    void aTabThatWasLeftAtOnceStaysEmpty() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.show("Topology");
        shown.show("Kernels");
        test::settle();
        QVERIFY(!shown.tab("Topology")->content());
        shown.show("Topology");
        QTRY_VERIFY_WITH_TIMEOUT(shown.tab("Topology")->content(), patienceMs);
    }

    void theSelectedRangeIsThatOfATabMadeLater() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.page().timeline().setSelectedRange(shown.someRange());
        shown.show("Memcpy bandwidth");
        QVERIFY(shown.wait());
        const auto* bandwidth = shown.panelIn<BandwidthPanel>("Memcpy bandwidth");
        QCOMPARE(bandwidth->scopeChoice().counted().value_or(TimeRange()), shown.someRange());
        shown.show("NCCL");
        QVERIFY(shown.wait());
        const auto* nccl = shown.panelIn<ReportPanel>("NCCL");
        QVERIFY(nccl->view().remark().startsWith("Selected range"));
        shown.show("Selection");
        QVERIFY(shown.wait());
        QVERIFY(shown.page().currentTable());
        QVERIFY(shown.page().currentTable()->model().rowCount() > 0);

        // It follows as those do that were there before.
        shown.page().timeline().setSelectedRange(std::nullopt);
        QVERIFY(!bandwidth->scopeChoice().counted());
        QVERIFY(!shown.page().currentTable());
    }

    void eventsMadeLaterKnowTheViewAndTheSelectedEvent() {
        Shown shown;
        QVERIFY(shown.wait());
        TimelineView& timeline = shown.page().timeline();
        timeline.visibleRange()->setRange(shown.someRange());
        const EventRef event(EventKind::Kernel, shown.page().trace()->kernels.size() * 3 / 8);
        timeline.setSelectedEvent(event);
        shown.show("Events");
        QVERIFY(shown.wait());
        EventsPanel& events = shown.page().tools().events();
        QCOMPARE(events.request().range, timeline.visibleRange()->range());
        QCOMPARE(events.model().eventAt(events.table().currentIndex().row()), event);
    }

    void whatIsAskedForIsMadeWithoutBeingShown() {
        Shown shown;
        QVERIFY(shown.wait());
        SqlPanel& sql = shown.page().tools().sql();
        QVERIFY(!sql.isVisible());
        QCOMPARE(sql.file(), shown.page().trace()->path);
        QCOMPARE(&shown.page().tools().sql(), &sql);
        shown.show("SQL");
        QVERIFY(sql.isVisible());
    }

    void marksMadeLaterShowTheSelectedOne() {
        Shown shown;
        QVERIFY(shown.wait());
        MarkStore& store = shown.page().tools().markStore();
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

    void hitsFoundBeforeAreListed() {
        Shown shown;
        QVERIFY(shown.wait());
        shown.page().showName("memcpy");
        QVERIFY(shown.wait());
        QVERIFY(shown.tab("Search results ("));
        shown.show("Search results");
        QVERIFY(shown.wait());
        QCOMPARE(qint64(shown.page().currentTable()->model().rowCount()),
                 shown.page().hits().count());
    }

  private:
    QTemporaryDir userData_;
};

LANESCOPE_TEST(TestLazyTabs, QApplication)
#include "tst_LazyTabs.moc"
