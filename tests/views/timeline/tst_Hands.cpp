// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/RangeSelection.h"
#include "views/timeline/TrackMenu.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Entries of the context menu at that position, without sections and lines.
QList<QAction*> menuAt(ShownTimeline& shown, QPoint position) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, position, shown.canvas()->mapToGlobal(position));
    QApplication::sendEvent(shown.canvas(), &event);
    QList<QAction*> entries;
    // Menus closed earlier may still exist.
    const auto menus = shown.canvas()->findChildren<QMenu*>();
    if (menus.isEmpty()) return entries;
    for (QAction* action : menus.back()->actions())
        if (!action->isSeparator()) entries << action;
    return entries;
}

QAction* entryOf(const QList<QAction*>& entries, const QString& start) {
    for (QAction* entry : entries)
        if (entry->text().startsWith(start)) return entry;
    return nullptr;
}

void closeMenus(ShownTimeline& shown) {
    for (QMenu* menu : shown.canvas()->findChildren<QMenu*>()) delete menu;
}

}  // namespace

class TestHands : public QObject {
    Q_OBJECT
    SmallTrace small_;

  private slots:
    void rightClickOffersTheActionsOfASlice() {
        ShownTimeline shown(small_.trace);
        shown.view.state().setTablesOffered(true);
        QSignalSpy name(&shown.view.state(), &TimelineState::nameRequested);
        QSignalSpy list(&shown.view.state(), &TimelineState::listRequested);
        QSignalSpy histogram(&shown.view.state(), &TimelineState::histogramRequested);
        const QPoint place = shown.middleOf(small_.first);
        QList<QAction*> entries = menuAt(shown, place);
        QCOMPARE(shown.view.state().selection().event(), small_.first);
        entryOf(entries, "Find all of this name")->trigger();
        QCOMPARE(name.takeFirst().front().toString(), QString("first_kernel"));
        entryOf(entries, "Show in the events")->trigger();
        QCOMPARE(list.takeFirst().front().value<EventRef>(), small_.first);
        entryOf(entries, "Show all instances")->trigger();
        QCOMPARE(histogram.count(), 1);
        entryOf(entries, "Select its time as range")->trigger();
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{100'000, 200'000}));
        QVERIFY(!entryOf(entries, "Go to the work it launched")->isEnabled());
        entryOf(entries, "Zoom to it")->trigger();
        QVERIFY(shown.visible().durationNs() < 200'000);
        entryOf(entries, "Go to its launch")->trigger();
        QCOMPARE(shown.view.state().selection().event(), small_.call);
        closeMenus(shown);
        // Without tables, no action leads to them.
        shown.view.state().setTablesOffered(false);
        shown.view.commands().fit();
        entries = menuAt(shown, place);
        QVERIFY(entryOf(entries, "Copy") && !entryOf(entries, "Show in the events"));
        closeMenus(shown);
    }

    void menusHaveATitleAndNoStrayLines() {
        ShownTimeline shown(small_.trace);
        shown.view.state().setTablesOffered(true);
        const auto check = [](QMenu* menu, const QString& title) {
            QVERIFY(menu);
            QCOMPARE(menu->actions().front()->text(), title);
            QVERIFY(!menu->actions().front()->isEnabled());
            bool wasLine = true;
            for (const QAction* each : menu->actions()) {
                QVERIFY(!wasLine || !each->isSeparator());
                wasLine = each->isSeparator();
            }
            QVERIFY(!wasLine);
        };
        menuAt(shown, shown.middleOf(small_.first));
        check(shown.canvas()->findChild<QMenu*>(), "first_kernel");
        closeMenus(shown);
        const uint32_t gpu = trackOf(*small_.trace, TrackKind::Gpu);
        TrackMenu ofTrack(shown.view.state(), gpu);
        check(&ofTrack, ofTrack.actions().front()->text());
    }

    void rightClickOnAnOperatorLeadsToItsBackward() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addKernel(builder.defaultStream(), "gemm", 0, 900'000);
        const EventRef forward = builder.addNvtx(thread, "aten::mm", 100'000, 300'000);
        const EventRef backward = builder.addNvtx(thread, "MmBackward0", 500'000, 700'000);
        builder.backward(forward, backward);
        ShownTimeline shown(builder.finish());
        QList<QAction*> entries = menuAt(shown, shown.middleOf(forward));
        QVERIFY(!entryOf(entries, "Its forward operator")->isEnabled());
        entryOf(entries, "Its backward operator")->trigger();
        QCOMPARE(shown.view.state().selection().event(), backward);
        closeMenus(shown);
        shown.view.commands().fit();
        entries = menuAt(shown, shown.middleOf(backward));
        QVERIFY(!entryOf(entries, "Go to its launch"));
        entryOf(entries, "Its forward operator")->trigger();
        QCOMPARE(shown.view.state().selection().event(), forward);
        closeMenus(shown);
    }

    void rightClickHidesAndPinsTheTrackAndUUndoes() {
        ShownTimeline shown(small_.trace);
        const TrackArrangement before = shown.view.state().tracks().arrangement();
        const QPoint place = shown.middleOf(small_.first);
        entryOf(menuAt(shown, place), "Pin the track")->trigger();
        closeMenus(shown);
        const TrackArrangement pinned = shown.view.state().tracks().arrangement();
        QCOMPARE(pinned.pinned.size(), size_t(1));
        shown.view.state().tracks().setAllFolded(true);
        QVERIFY(!shown.view.state().tracks().arrangement().folded.empty());
        shown.view.commands().undoArrangement();
        QVERIFY(shown.view.state().tracks().arrangement() == pinned);
        shown.view.commands().undoArrangement();
        QVERIFY(shown.view.state().tracks().arrangement() == before);
        shown.view.commands().undoArrangement();
        QVERIFY(shown.view.state().tracks().arrangement() == before);
        // Taller rows have their own keys, and undo of folding ignores them.
        shown.view.state().tracks().setAllFolded(true);
        shown.view.state().tracks().setRowHeight(RowHeight::Tall);
        shown.view.commands().undoArrangement();
        QCOMPARE(shown.view.state().tracks().rowHeight(), RowHeight::Tall);
        QVERIFY(shown.view.state().tracks().arrangement().folded.empty());
        // The saved arrangement is the initial one.
        shown.view.state().tracks().setArrangement(pinned);
        shown.view.commands().undoArrangement();
        QCOMPARE(shown.view.state().tracks().arrangement().pinned.size(), size_t(1));
    }

    void idlePlaceOffersItsCauseAndItsTime() {
        ShownTimeline shown(small_.trace);
        shown.view.state().setEmptyPlaces([](uint32_t, int64_t timeNs) -> std::optional<EmptyPlace> {
            if (timeNs < 200'000 || timeNs >= 300'000) return std::nullopt;
            return EmptyPlace{"idle for 100 us", "CPU-bound", Qt::red, {200'000, 300'000}};
        });
        QSignalSpy asked(&shown.view.state(), &TimelineState::emptyPlaceActivated);
        const QPoint place(int(shown.toX(250'000)), shown.middleOf(small_.first).y());
        const QList<QAction*> entries = menuAt(shown, place);
        entryOf(entries, "Why is it idle?")->trigger();
        QCOMPARE(asked.count(), 1);
        entryOf(entries, "Select the gap as range")->trigger();
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{200'000, 300'000}));
        QVERIFY(!entryOf(entries, "Copy"));
        closeMenus(shown);
    }

    void sliceBecomesARangeAndBack() {
        ShownTimeline shown(small_.trace);
        shown.view.commands().selectTimeOfEvent();
        QVERIFY(!shown.view.state().selection().range());
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, shown.middleOf(small_.second));
        shown.view.commands().selectTimeOfEvent();
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{300'000, 400'000}));
        QCOMPARE(shown.view.state().selection().event(), small_.second);
        shown.view.commands().selectTimeOfEvent();
        QVERIFY(!shown.view.state().selection().range());
    }

    void draggedEdgesSnapToSlicesExceptWithAlt() {
        ShownTimeline shown(small_.trace);
        const int y = shown.middleOf(small_.first).y();
        const QPoint from(int(shown.toX(100'000)) - 2, y), to(int(shown.toX(400'000)) + 3, y);
        ShownTimeline::drag(shown.canvas(), from, to, Qt::LeftButton, Qt::ShiftModifier);
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{100'000, 400'000}));
        // By its edge, without Shift; the other edge stays.
        const QPoint edge(int(shown.toX(400'000)) + 1, y);
        ShownTimeline::drag(shown.canvas(), edge, {int(shown.toX(600'000)) - 2, y});
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{100'000, 600'000}));
        ShownTimeline::drag(shown.ruler(), {int(shown.toX(100'000)), 10}, {int(shown.toX(200'000)) + 2, 10});
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{200'000, 600'000}));
        // Beyond the other edge.
        ShownTimeline::drag(shown.ruler(), {int(shown.toX(600'000)), 10}, {int(shown.toX(100'000)), 10});
        QCOMPARE(*shown.view.state().selection().range(), (TimeRange{100'000, 200'000}));
        ShownTimeline::drag(shown.canvas(), {int(shown.toX(200'000)), y}, {int(shown.toX(300'000)) + 3, y},
                            Qt::LeftButton, Qt::AltModifier);
        QVERIFY(shown.view.state().selection().range()->endNs != 300'000);
        QVERIFY(std::abs(shown.view.state().selection().range()->endNs - 300'000) < 5'000);
        QVERIFY(!shown.view.history().canGoBack());  // nothing was panned
    }

    void selectionIsCopiedCompletely() {
        ShownTimeline shown(small_.trace);
        QApplication::clipboard()->clear();
        shown.view.commands().copySelected();
        QVERIFY(QApplication::clipboard()->text().isEmpty());
        shown.view.state().selection().setEvent(small_.second);
        shown.view.commands().copySelected();
        const QString text = QApplication::clipboard()->text();
        QCOMPARE(text.split('\n')[1], QString("second_kernel\tGPU 0 / Compute, default stream 7\t300000\t100000"));
        QCOMPARE(QApplication::clipboard()->mimeData()->data("text/tab-separated-values"), text.toUtf8());
        shown.view.commands().clearSelection();
        shown.view.state().selection().setRange(TimeRange{7, 1'234'567});
        shown.view.commands().copySelected();
        QVERIFY(QApplication::clipboard()->text().contains("selected range\t\t7\t1234560"));
    }

    void wheelScrollsTheWidgetUnderThePointer() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(700, 180);
        QApplication::processEvents();
        const TimeRange before = shown.visible();
        shown.view.state().options().setWheelScrolling(true);
        const QPoint middle = shown.canvas()->rect().center();
        ShownTimeline::wheel(shown.canvas(), middle, {0, -120});
        QCOMPARE(shown.visible(), before);
        QVERIFY(shown.view.state().scroll().y() > 0);
        const int scrolled = shown.view.state().scroll().y();
        ShownTimeline::wheel(shown.canvas(), middle, {0, 120}, Qt::ControlModifier);
        QVERIFY(shown.visible().durationNs() < before.durationNs());
        QCOMPARE(shown.view.state().scroll().y(), scrolled);
        ShownTimeline::wheel(shown.ruler(), {100, 8}, {0, -120});
        QCOMPARE(shown.view.state().scroll().y(), scrolled);
        shown.view.state().options().setWheelScrolling(false);
        const int64_t visibleNs = shown.visible().durationNs();
        ShownTimeline::wheel(shown.canvas(), middle, {0, 120});
        QVERIFY(shown.visible().durationNs() < visibleNs);
    }
};

LANESCOPE_TEST(TestHands, QApplication)
#include "tst_Hands.moc"
