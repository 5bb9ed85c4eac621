// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/reduceToPixels.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"

using namespace lanescope;
using namespace lanescope::views;

class tst_TimelineInput : public QObject {
    Q_OBJECT

  private slots:
    void wheelZoomsAtThePointer_data() {
        QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
        QTest::addColumn<int>("angle");
        QTest::newRow("in") << Qt::KeyboardModifiers() << 120;
        QTest::newRow("out") << Qt::KeyboardModifiers() << -120;
        QTest::newRow("in with Ctrl") << Qt::KeyboardModifiers(Qt::ControlModifier) << 240;
    }
    void wheelZoomsAtThePointer() {
        QFETCH(Qt::KeyboardModifiers, modifiers);
        QFETCH(int, angle);
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 700'000});
        const int x = 250;
        const int64_t before = shown.toTimeNs(x);
        const int64_t durationNs = shown.visible().durationNs();
        shown.wheel(shown.canvas(), {x, 120}, {0, angle}, modifiers);
        QCOMPARE(shown.visible().durationNs() < durationNs, angle > 0);
        QVERIFY(shown.visible().durationNs() != durationNs);
        QVERIFY(std::abs(shown.toX(before) - x) <= 1);
    }

    void shiftAndHorizontalWheelsPan() {
        ShownTimeline shown(small_.trace);
        const TimeRange start{200'000, 300'000};
        shown.view.state().range().axis().setRange(start);
        shown.wheel(shown.canvas(), {100, 100}, {0, -120}, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), start.shifted(10'000));
        shown.wheel(shown.canvas(), {100, 100}, {120, 0});
        QCOMPARE(shown.visible(), start);
    }

    void wheelOverLabelsScrolls() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(1100, 200);
        QApplication::processEvents();
        auto* bar = shown.view.findChild<QScrollBar*>();
        QVERIFY(bar->maximum() > 0);
        const TimeRange before = shown.visible();
        shown.wheel(shown.labels(), {40, 40}, {0, -120});
        QCOMPARE(bar->value(), std::min(60, bar->maximum()));
        shown.wheel(shown.labels(), {40, 40}, {0, 120}, Qt::ControlModifier);
        QCOMPARE(bar->value(), std::min(60, bar->maximum()));
        shown.wheel(shown.labels(), {40, 40}, {0, 1200});
        QCOMPARE(bar->value(), 0);
        QCOMPARE(shown.visible(), before);
    }

    void draggingTheCanvasPans_data() {
        QTest::addColumn<Qt::MouseButton>("button");
        QTest::newRow("left") << Qt::LeftButton;
        QTest::newRow("middle") << Qt::MiddleButton;
    }
    void draggingTheCanvasPans() {
        QFETCH(Qt::MouseButton, button);
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 400'000});
        const int64_t grabbed = shown.toTimeNs(300);
        shown.drag(shown.canvas(), {300, 100}, {420, 104}, button);
        QVERIFY(std::abs(shown.toX(grabbed) - 420) <= 1);
        QCOMPARE(shown.visible().durationNs(), 200'000);
        QVERIFY(!shown.view.state().selection().event().isValid());
        QVERIFY(!shown.view.state().selection().range());
    }

    void panningStopsAtTheLimits() {
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({10'000, 20'000});
        for (int i = 0; i < 10; ++i) shown.drag(shown.canvas(), {10, 100}, {800, 100});
        QCOMPARE(shown.visible().startNs, shown.view.state().range().axis().limits().startNs);
        QCOMPARE(shown.visible().durationNs(), 10'000);
    }

    void draggingTheRulerSelectsARange() {
        ShownTimeline shown(small_.trace);
        QSignalSpy spy(&shown.view.state().selection(), &TimelineSelection::rangeChanged);
        const TimeRange expected{shown.toTimeNs(100), shown.toTimeNs(300)};
        // With Alt, so that it does not snap to a slice.
        shown.drag(shown.ruler(), {100, 10}, {300, 12}, Qt::LeftButton, Qt::AltModifier);
        QCOMPARE(*shown.view.state().selection().range(), expected);
        QVERIFY(spy.count() >= 1);
        shown.view.state().selection().setRange(std::nullopt);
        // Leftwards gives the same range.
        shown.drag(shown.ruler(), {300, 10}, {100, 12}, Qt::LeftButton, Qt::AltModifier);
        QCOMPARE(*shown.view.state().selection().range(), expected);
    }

    void shiftDraggingTheCanvasSelectsARange() {
        ShownTimeline shown(small_.trace);
        const TimeRange before = shown.visible();
        const TimeRange expected{shown.toTimeNs(150), shown.toTimeNs(350)};
        shown.drag(shown.canvas(), {150, 90}, {350, 90}, Qt::LeftButton, Qt::ShiftModifier);
        QCOMPARE(*shown.view.state().selection().range(), expected);
        QCOMPARE(shown.visible(), before);
    }

    void clickingTheRulerClearsTheRange() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setRange(TimeRange{100, 200});
        QTest::mouseClick(shown.ruler(), Qt::LeftButton, {}, {200, 10});
        QVERIFY(!shown.view.state().selection().range());
    }

    void clickingSelectsTheSlice() {
        ShownTimeline shown(small_.trace);
        QSignalSpy spy(&shown.view.state().selection(), &TimelineSelection::eventChanged);
        for (const EventRef event : {small_.first, small_.onOtherStream, small_.third, small_.call}) {
            const QPoint at = shown.middleOf(event);
            QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, at);
            QCOMPARE(shown.view.state().selection().event(), event);
            const SliceLocation location = small_.trace->locate(event);
            const Lane& lane = small_.trace->tracks[location.track].lanes[location.lane];
            QCOMPARE(lane.event[sliceAt(lane, shown.toTimeNs(at.x()), 2'000)], event);
        }
        QCOMPARE(spy.count(), 4);
    }

    void clickingEmptySpaceClears() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.first);
        const QPoint beside = shown.middleOf(small_.second) + QPoint(int(shown.toX(100'000) - shown.toX(0)), 0);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, beside);
        QVERIFY(!shown.view.state().selection().event().isValid());
    }

    void doubleClickZoomsToTheSlice() {
        ShownTimeline shown(small_.trace);
        doubleClick(shown.canvas(), shown.middleOf(small_.second));
        QCOMPARE(shown.visible(), (TimeRange{287'500, 412'500}));
    }

    void draggingTheOverviewMovesTheWindow() {
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 400'000});
        const TimeScale axis{shown.view.state().range().axis().limits(), double(shown.overview()->width()), 0};
        const int x = int(axis.toX(300'000));
        shown.drag(shown.overview(), {x, 20}, {x + 100, 20});
        QCOMPARE(shown.visible().durationNs(), 200'000);
        QVERIFY(std::abs(shown.visible().startNs - (200'000 + axis.spanNs(100))) <= 2);
        // A press next to the window moves it there.
        QTest::mouseClick(shown.overview(), Qt::LeftButton, {}, {int(axis.toX(150'000)), 20});
        QVERIFY(std::abs(shown.visible().startNs - 50'000) < 2 * axis.nsPerPixel());
        doubleClick(shown.overview(), {x, 20});
        QVERIFY(shown.view.state().range().axis().isFitted());
    }

    void draggingTheOverviewsEdgeResizesTheWindow() {
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 400'000});
        const TimeScale axis{shown.view.state().range().axis().limits(), double(shown.overview()->width()), 0};
        const int x = int(std::lround(axis.toX(400'000)));
        shown.drag(shown.overview(), {x, 20}, {x + 80, 20});
        QCOMPARE(shown.visible().startNs, 200'000);
        QVERIFY(std::abs(shown.visible().endNs - (400'000 + axis.spanNs(80))) <= 2);
        shown.drag(shown.overview(), {x + 80, 20}, {0, 20});  // past the other edge
        QCOMPARE(shown.visible().startNs, 200'000);
        QCOMPARE(shown.visible().durationNs(), VisibleRange::minVisibleNs);
    }

    void clickingALabelFolds() {
        ShownTimeline shown(small_.trace);
        const QPoint beforeFold = shown.middleOf(small_.call);
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {60, 10});  // GPU 0
        // Its two streams are gone, so the CPU thread's calls moved up.
        const int gone = 2 * shown.metrics().headerHeight;
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, beforeFold - QPoint(0, gone));
        QCOMPARE(shown.view.state().selection().event(), small_.call);
        shown.view.state().tracks().setAllFolded(false);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, shown.middleOf(small_.first));
        QCOMPARE(shown.view.state().selection().event(), small_.first);
    }

    void draggingTheLabelsEdgeResizesThem() {
        ShownTimeline shown(small_.trace);
        const int width = shown.labels()->width();
        shown.drag(shown.labels(), {width - 2, 100}, {width + 60, 100});
        QCOMPARE(shown.labels()->width(), width + 60);
        QCOMPARE(shown.canvas()->x(), width + 60);
        shown.drag(shown.labels(), {shown.labels()->width() - 2, 100}, {3, 100});
        QCOMPARE(shown.labels()->width(), LabelColumn::minWidthPx);
    }

    void letterKeysZoomAndPan() {
        ShownTimeline shown(small_.trace);
        const TimeRange start{300'000, 500'000};
        shown.view.state().range().axis().setRange(start);
        QTest::keyClick(&shown.view, Qt::Key_W);
        QVERIFY(shown.visible().durationNs() < start.durationNs());
        QVERIFY(std::abs(shown.visible().startNs + shown.visible().endNs - 800'000) < 2'000);
        shown.view.state().range().axis().setRange(start);
        QTest::keyClick(&shown.view, Qt::Key_S);
        QVERIFY(shown.visible().durationNs() > start.durationNs());
        shown.view.state().range().axis().setRange(start);
        QTest::keyClick(&shown.view, Qt::Key_D);
        QVERIFY(shown.visible().startNs > start.startNs);
        QCOMPARE(shown.visible().durationNs(), start.durationNs());
        shown.view.state().range().axis().setRange(start);
        QTest::keyClick(&shown.view, Qt::Key_A);
        QVERIFY(shown.visible().startNs < start.startNs);
    }

    void heldKeysKeepMoving() {
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({100'000, 110'000});
        QTest::keyPress(&shown.view, Qt::Key_D);
        const TimeRange afterPress = shown.visible();
        QTRY_VERIFY(shown.visible().startNs > afterPress.startNs);
        QTest::keyRelease(&shown.view, Qt::Key_D);
        const TimeRange afterRelease = shown.visible();
        QTest::qWait(60);
        QCOMPARE(shown.visible(), afterRelease);
    }

    void cursorKeysWalkSlicesAndLanes() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.first);
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(shown.view.state().selection().event(), small_.second);
        QTest::keyClick(&shown.view, Qt::Key_Down);
        QCOMPARE(shown.view.state().selection().event(), small_.onOtherStream);
        QTest::keyClick(&shown.view, Qt::Key_Right);  // the last of its lane
        QCOMPARE(shown.view.state().selection().event(), small_.onOtherStream);
        QTest::keyClick(&shown.view, Qt::Key_Up);
        QCOMPARE(shown.view.state().selection().event(), small_.second);
        shown.view.state().range().axis().setRange({300'000, 310'000});
        QTest::keyClick(&shown.view, Qt::Key_Left);  // not visible: the view follows
        QCOMPARE(shown.view.state().selection().event(), small_.first);
        QVERIFY(shown.visible().overlaps(small_.trace->rangeOf(small_.first)));
        QCOMPARE(shown.visible().durationNs(), 10'000);
    }

    void escapeClears() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.first);
        shown.view.state().selection().setRange(TimeRange{1, 2});
        QTest::keyClick(&shown.view, Qt::Key_Escape);
        QVERIFY(!shown.view.state().selection().event().isValid());
        QVERIFY(!shown.view.state().selection().range());
    }

    void shortcutsPassThrough() {
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({300'000, 500'000});
        QTest::keyClick(&shown.view, Qt::Key_F, Qt::ControlModifier);
        QTest::keyClick(&shown.view, Qt::Key_W, Qt::ControlModifier);
        QCOMPARE(shown.visible(), (TimeRange{300'000, 500'000}));
    }

    void hoverNamesTheSlice() {
        ShownTimeline shown(small_.trace);
        shown.canvas()->repaint();
        shown.send(shown.canvas(), shown.middleOf(small_.second), Qt::NoButton);
        const HoverTip& card = shown.canvas()->hoverTip();
        QVERIFY(card.isVisible());
        QCOMPARE(card.title(), QString("second_kernel"));
        QVERIFY2(card.detail().contains("100.0 us"), qPrintable(card.detail()));
        QVERIFY2(card.detail().contains("300 us"), qPrintable(card.detail()));
        QVERIFY(shown.canvas()->rect().contains(card.rectangle()));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(shown.canvas(), &leave);
        QVERIFY(!card.isVisible());
    }

  private:
    SmallTrace small_;
};

LANESCOPE_TEST(tst_TimelineInput, QApplication)
#include "tst_TimelineInput.moc"
