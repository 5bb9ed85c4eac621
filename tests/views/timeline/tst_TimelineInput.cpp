// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/lod/reduceToPixels.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/ZoomHistory.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Waits until the view counts as resting.
void rest() { QTest::qWait(ZoomHistory::restMs + 150); }

/// Two GPUs: a stream on the first with 4,000 short kernels and a long one at the end, and a stream
/// on the second whose kernel waited for the first's last short one.
struct BusyTrace {
    TracePtr trace;
    EventRef first, last, call, launched, waiting;

    BusyTrace() {
        SimulatedTrace builder;
        const uint32_t one = builder.addGpu(), two = builder.addGpu();
        const uint32_t thread = builder.addThread(0, 4242, "python3"), stream = builder.addStream(0, one, 7);
        const uint32_t other = builder.addStream(0, two, 20);
        call = builder.addApi(thread, "cudaLaunchKernel", 500, 900, 1);
        for (int i = 0; i < 4'000; ++i) {
            const EventRef kernel =
                builder.addKernel(stream, i % 2 ? "odd" : "even", 1'000 + i * 1'000, 1'700 + i * 1'000, 1 + i);
            if (i == 0) first = kernel;
            if (i == 3'999) launched = kernel;
        }
        builder.eventRecord({stream, 3, noIndex, 5'000});
        builder.eventWait({other, 3, noIndex, 5'001});
        waiting = builder.addKernel(other, "waiting", 4'100'000, 4'200'000, 5'002);
        last = builder.addKernel(stream, "long", 4'300'000, 5'000'000, 5'003);
        trace = builder.finish();
    }
};

}  // namespace

class tst_TimelineInput : public QObject {
    Q_OBJECT

    SmallTrace small_;
    BusyTrace busy_;

  private slots:
    void wheelZoomsAtThePointer_data() {
        const test::Rows<Qt::KeyboardModifiers, int> row;
        row("in", Qt::KeyboardModifiers(), 120);
        row("out", Qt::KeyboardModifiers(), -120);
        row("in with Ctrl", Qt::KeyboardModifiers(Qt::ControlModifier), 240);
    }
    void wheelZoomsAtThePointer() {
        const auto [modifiers, angle] = test::row<Qt::KeyboardModifiers, int>();
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 700'000});
        const int x = 250;
        const int64_t before = shown.toTimeNs(x), durationNs = shown.visible().durationNs();
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
        QCOMPARE(test::listed(bar->value(), shown.visible()), test::listed(0, before));
    }

    void draggingTheCanvasPans_data() {
        test::rows<Qt::MouseButton>("button", {{"left", Qt::LeftButton}, {"middle", Qt::MiddleButton}});
    }
    void draggingTheCanvasPans() {
        QFETCH(Qt::MouseButton, button);
        ShownTimeline shown(small_.trace);
        shown.view.state().range().axis().setRange({200'000, 400'000});
        const int64_t grabbed = shown.toTimeNs(300);
        shown.drag(shown.canvas(), {300, 100}, {420, 104}, button);
        QVERIFY(std::abs(shown.toX(grabbed) - 420) <= 1);
        QCOMPARE(shown.visible().durationNs(), 200'000);
        QVERIFY(!shown.view.state().selection().event().isValid() && !shown.view.state().selection().range());
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
        const TimeRange before = shown.visible(), expected{shown.toTimeNs(150), shown.toTimeNs(350)};
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
        // The row of the clicked call stays under the pointer.
        const int top = beforeFold.y() - gone;
        shown.view.state().tracks().setAllFolded(false);
        QCOMPARE(shown.middleOf(small_.call, shown.view.state().scroll().y()).y(), top);
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(shown.canvas(), &leave);
        shown.view.state().scroll().setY(0);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, shown.middleOf(small_.first));
        QCOMPARE(shown.view.state().selection().event(), small_.first);
    }

    void draggingTheLabelsEdgeResizesThem() {
        ShownTimeline shown(small_.trace);
        const int width = shown.labels()->width();
        shown.drag(shown.labels(), {width - 2, 100}, {width + 60, 100});
        QCOMPARE(test::listed(shown.labels()->width(), shown.canvas()->x()), test::listed(width + 60, width + 60));
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
        QVERIFY(!shown.view.state().selection().event().isValid() && !shown.view.state().selection().range());
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
        QVERIFY2(card.detail().contains("100 µs"), qPrintable(card.detail()));
        QVERIFY2(card.detail().contains("300 µs"), qPrintable(card.detail()));
        QVERIFY(shown.canvas()->rect().contains(card.rectangle()));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(shown.canvas(), &leave);
        QVERIFY(!card.isVisible());
    }

    void emptyPlacesHaveTheirDuration() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 100'000, 200'000);
        builder.addNvtx(builder.defaultThread(), "run", 0, 1'000'000);
        ShownTimeline shown(builder.finish());
        const auto textAt = [&](TrackKind kind, int64_t timeNs) {
            const LayoutRow* row = shown.view.state().tracks().layout().rowOf(trackOf(*shown.view.trace(), kind));
            shown.send(shown.canvas(), {int(shown.toX(timeNs)), row->top + row->height / 2}, Qt::NoButton);
            const HoverTip& tip = shown.canvas()->hoverTip();
            return tip.isVisible() ? tip.title() + '|' + tip.detail() : QString();
        };
        QCOMPARE(textAt(TrackKind::Stream, 600'000),
                 QString("No work in this stream for 800 \u00b5s|from 200 \u00b5s to 1 ms (the end of the trace)"));
        QCOMPARE(textAt(TrackKind::Stream, 50'000),
                 QString("No work in this stream for 100 \u00b5s|from 0 ns (the start of the trace) to 100 \u00b5s"));
        QVERIFY(textAt(TrackKind::Gpu, 900'000).startsWith("No GPU work for 800 \u00b5s"));
    }

    void absenceEndsWhereDataIsMissing() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 100'000, 200'000);
        builder.addNvtx(builder.defaultThread(), "run", 0, 1'000'000);
        const auto trace = std::const_pointer_cast<Trace>(builder.finish());
        const uint32_t stream = trackOf(*trace, TrackKind::Stream);
        trace->tracks[stream].unrecorded = std::vector<TimeRange>{{300'000, 400'000}};
        trace->tracks[stream].lossy = std::vector<TimeRange>{{700'000, 750'000}};
        ShownTimeline shown(trace);
        const LayoutRow* row = shown.view.state().tracks().layout().rowOf(stream);
        const auto textAt = [&](int64_t timeNs) {
            shown.send(shown.canvas(), {int(shown.toX(timeNs)), row->top + row->height / 2}, Qt::NoButton);
            const HoverTip& tip = shown.canvas()->hoverTip();
            return tip.isVisible() ? tip.title() + '|' + tip.detail() : QString();
        };
        QCOMPARE(textAt(250'000),
                 QString("No work in this stream for 100 \u00b5s|from 200 \u00b5s to 300 \u00b5s (unrecorded time)"));
        QCOMPARE(textAt(350'000), QString("Not recorded|from 300 \u00b5s to 400 \u00b5s"));
        QCOMPARE(textAt(550'000), QString("No work in this stream for 300 \u00b5s|from 400 \u00b5s (unrecorded time) "
                                          "to 700 \u00b5s (lost data)"));
        QCOMPARE(textAt(900'000), QString("No work in this stream for 250 \u00b5s|from 750 \u00b5s (lost data) to 1 ms "
                                          "(the end of the trace)"));
    }

    void hoverTipLeavesItsLaneVisible() {
        ShownTimeline shown(small_.trace);
        for (const EventRef event : {small_.first, small_.third, small_.onOtherStream}) {
            const QPoint at = shown.middleOf(event);
            shown.send(shown.canvas(), at, Qt::NoButton);
            const HoverTip& tip = shown.canvas()->hoverTip();
            QVERIFY(tip.isVisible());
            const SliceLocation place = small_.trace->locate(event);
            const auto lane = shown.view.state().tracks().layout().areaOf({place.track, place.lane});
            QVERIFY(tip.rectangle().top() >= lane->top + lane->height || tip.rectangle().bottom() < lane->top);
        }
    }

    void fitsTheSelection() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.second);
        shown.view.state().selection().setRange(TimeRange{400'000, 480'000});
        QTest::keyClick(&shown.view, Qt::Key_F);
        QCOMPARE(shown.visible(), (TimeRange{390'000, 490'000}));
        shown.view.state().selection().setRange(std::nullopt);
        QTest::keyClick(&shown.view, Qt::Key_F);
        QCOMPARE(shown.visible(), (TimeRange{287'500, 412'500}));
        QTest::keyClick(&shown.view, Qt::Key_Escape);
        QTest::keyClick(&shown.view, Qt::Key_F);
        QVERIFY(shown.view.state().range().axis().isFitted());
        shown.view.state().range().axis().setRange({1'000, 2'000});
        QTest::keyClick(&shown.view, Qt::Key_0);
        QVERIFY(shown.view.state().range().axis().isFitted());
    }

    void enterZoomsToTheEvent() {
        ShownTimeline shown(small_.trace);
        const TimeRange before = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(shown.visible(), before);
        shown.view.state().selection().setRange(TimeRange{400'000, 480'000});
        shown.view.state().selection().setEvent(small_.second);
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(shown.visible(), (TimeRange{287'500, 412'500}));
    }

    void goesBackAndForward_data() { test::rows<Qt::Key>("key", {{"Z", Qt::Key_Z}, {"Backspace", Qt::Key_Backspace}}); }
    void goesBackAndForward() {
        QFETCH(Qt::Key, key);
        ShownTimeline shown(small_.trace);
        QSignalSpy changed(&shown.view.history(), &ZoomHistory::changed);
        const TimeRange whole = shown.visible();
        QVERIFY(!shown.view.history().canGoBack());
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange zoomed = shown.visible();
        rest();
        QVERIFY(shown.view.history().canGoBack());
        QVERIFY(changed.count() > 0);
        shown.drag(shown.canvas(), {300, 300}, {200, 300});
        const TimeRange panned = shown.visible();
        QVERIFY(panned != zoomed);
        rest();
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), zoomed);
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), whole);
        QVERIFY(!shown.view.history().canGoBack());
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), whole);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), panned);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), panned);
        // Navigating elsewhere clears the forward history.
        QTest::keyClick(&shown.view, key);
        shown.wheel(shown.canvas(), {300, 100}, {0, 240});
        rest();
        const TimeRange elsewhere = shown.visible();
        QVERIFY(elsewhere != panned);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        rest();
        QCOMPARE(shown.visible(), elsewhere);
    }

    void oneMotionIsOneStepBack() {
        ShownTimeline shown(small_.trace);
        const TimeRange whole = shown.visible();
        for (int i = 0; i < 12; ++i) shown.wheel(shown.canvas(), {300, 100}, {0, 120});
        QTest::keyPress(&shown.view, Qt::Key_D);
        QTest::qWait(60);
        QTest::keyRelease(&shown.view, Qt::Key_D);
        rest();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(shown.visible(), whole);
    }

    void goingBackIncludesAMotionInProgress() {
        ShownTimeline shown(small_.trace);
        const TimeRange whole = shown.visible();
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange zoomed = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Z);  // at once
        QCOMPARE(shown.visible(), whole);
        QTest::keyClick(&shown.view, Qt::Key_Z, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), zoomed);
    }

    void newTraceHasNoHistory() {
        ShownTimeline shown(small_.trace);
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        shown.view.setTrace(busy_.trace);
        rest();
        QVERIFY(!shown.view.history().canGoBack());
        const TimeRange whole = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(shown.visible(), whole);
    }

    void growingTraceKeepsItsHistory() {
        ShownTimeline shown(small_.trace);
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        const TimeRange zoomed = shown.visible();
        for (int round = 0; round < 3; ++round) {
            shown.view.history().moveWithoutHistory([&] {
                shown.view.setTrace(small_.trace);
                shown.view.state().range().axis().setRange(zoomed.shifted(10 * (round + 1)));
            });
            rest();
        }
        QVERIFY(shown.visible() != zoomed && shown.view.history().canGoBack());
        shown.view.history().back();
        QVERIFY(shown.view.state().range().axis().isFitted() && !shown.view.history().canGoBack());
        // The view that the user was moving when the trace grew is its own entry.
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange closer = shown.visible();
        shown.view.history().moveWithoutHistory([&] {
            shown.view.setTrace(small_.trace);
            shown.view.state().range().axis().setRange(closer);
        });
        rest();
        QVERIFY(shown.view.history().canGoBack());
        shown.view.history().back();
        QVERIFY(shown.view.state().range().axis().isFitted());
    }

    void goesBackToTheTracks() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(1100, 200);
        QApplication::processEvents();
        rest();
        auto* bar = shown.view.findChild<QScrollBar*>();
        bar->setValue(bar->maximum());
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(bar->value(), 0);
        QTest::keyClick(&shown.view, Qt::Key_Z, Qt::ShiftModifier);
        QCOMPARE(bar->value(), bar->maximum());
    }

    void cursorKeysSkipToDistinguishableSlices() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        int64_t before = busy_.trace->rangeOf(busy_.first).startNs;
        for (int i = 0; i < 5; ++i) {
            QTest::keyClick(&shown.view, Qt::Key_Right);
            const int64_t now = busy_.trace->rangeOf(shown.view.state().selection().event()).startNs;
            QVERIFY(shown.toX(now) - shown.toX(before) >= 0.99 && shown.toX(now) - shown.toX(before) < 2);
            before = now;
        }
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QVERIFY(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs < before);
        QTest::keyClick(&shown.view, Qt::Key_End);
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(shown.view.state().selection().event(), busy_.last);
    }

    void periodAndCommaGoToTheAdjacentSlice() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Period);
        QCOMPARE(shown.view.state().selection().event().row(), busy_.first.row() + 1);
        QTest::keyClick(&shown.view, Qt::Key_Comma);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Comma);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
    }

    void cursorKeysRestartWhereTheLaneIsVisible() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        shown.view.state().range().axis().setRange({2'000'000, 2'010'000});
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs, 2'000'000);
        QCOMPARE(shown.visible(), (TimeRange{2'000'000, 2'010'000}));
        shown.view.state().selection().setEvent(busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QCOMPARE(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs, 2'009'000);
    }

    void homeAndEndGoToTheEndsOfTheLane() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(EventRef(EventKind::Kernel, 77));
        shown.view.state().range().axis().setRange({78'000, 80'000});
        QTest::keyClick(&shown.view, Qt::Key_End);
        QCOMPARE(shown.view.state().selection().event(), busy_.last);
        QVERIFY(shown.visible().overlaps(busy_.trace->rangeOf(busy_.last)));
        QTest::keyClick(&shown.view, Qt::Key_Home);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QVERIFY(shown.visible().overlaps(busy_.trace->rangeOf(busy_.first)));
    }

    void controlHomeAndEndScroll() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(1100, 200);
        QApplication::processEvents();
        auto* bar = shown.view.findChild<QScrollBar*>();
        QVERIFY(bar->maximum() > 0);
        QTest::keyClick(&shown.view, Qt::Key_End, Qt::ControlModifier);
        QCOMPARE(bar->value(), bar->maximum());
        QTest::keyClick(&shown.view, Qt::Key_Home, Qt::ControlModifier);
        QCOMPARE(bar->value(), 0);
        QVERIFY(!shown.view.state().selection().event().isValid());
    }

    void keysFollowFlowEvents() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.call);
        QTest::keyClick(&shown.view, Qt::Key_G);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_G, Qt::ShiftModifier);
        QCOMPARE(shown.view.state().selection().event(), busy_.call);
        shown.view.state().selection().setEvent(busy_.launched);
        QTest::keyClick(&shown.view, Qt::Key_E);  // on to the work of the other stream
        QCOMPARE(shown.view.state().selection().event(), busy_.waiting);
        QTest::keyClick(&shown.view, Qt::Key_E);  // no work waits for that
        QCOMPARE(shown.view.state().selection().event(), busy_.waiting);
        QTest::keyClick(&shown.view, Qt::Key_Q);
        QCOMPARE(shown.view.state().selection().event(), busy_.launched);
    }

    void keysAndMouseFollowOperatorsToTheirBackward() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t autograd = builder.addThread(0, 4250, "pt_autograd_0");
        const auto add = [&](uint32_t thread, const char* name, int64_t startNs, int64_t endNs) {
            return builder.addNvtx(thread, name, startNs, endNs, NvtxStyle::PushPop, operatorDomain);
        };
        const EventRef forward = add(main, "aten::mm", 10'000, 110'000);
        const EventRef other = add(main, "aten::relu", 200'000, 300'000);
        const EventRef backward = add(autograd, "MmBackward0", 500'000, 600'000);
        builder.addKernel(builder.defaultStream(), "gemm", 20'000, 900'000);
        builder.backward(forward, backward);
        ShownTimeline shown(builder.finish());
        shown.view.state().selection().setEvent(forward);
        QVERIFY(shown.canvas()->flowLabels().empty());
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), backward);
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), backward);
        QTest::keyClick(&shown.view, Qt::Key_Q);
        QCOMPARE(shown.view.state().selection().event(), forward);
        // Its arrow leads out of view.
        shown.view.state().range().axis().setRange({0, 150'000});
        QCOMPARE(shown.canvas()->flowLabels().size(), size_t{1});
        const FlowOverlay::Label label = shown.canvas()->flowLabels()[0];
        QVERIFY2(label.text.startsWith("MmBackward0 at +"), qPrintable(label.text));
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, label.area.center().toPoint());
        QCOMPARE(shown.view.state().selection().event(), backward);
        shown.view.state().selection().setEvent(other);
        QVERIFY(shown.canvas()->flowLabels().empty());
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), other);
    }

    void flowsOutOfViewEndInALabel() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.call);
        QVERIFY(shown.canvas()->flowLabels().empty());
        shown.view.state().range().axis().setRange({0, 50'000});
        QCOMPARE(shown.canvas()->flowLabels().size(), size_t{1});
        QCOMPARE(shown.canvas()->flowLabels()[0].text, QString("first_kernel at +80.0 µs"));
        QVERIFY(shown.canvas()->rect().contains(shown.canvas()->flowLabels()[0].area.toAlignedRect()));
        shown.view.state().selection().setEvent(small_.first);
        shown.view.state().range().axis().setRange({90'000, 150'000});
        QCOMPARE(shown.canvas()->flowLabels()[0].text,
                 QString("cudaLaunchKernel at %1%2").arg(QChar(0x2212)).arg("80.0 µs"));
        // Another stream waits, on a lower GPU.
        shown.view.setTrace(busy_.trace);
        shown.view.state().selection().setEvent(busy_.launched);
        shown.view.resize(1100, 130);
        QApplication::processEvents();
        QVERIFY(!shown.canvas()->flowLabels().empty());
        QCOMPARE(shown.canvas()->flowLabels().back().text, QString("GPU 1 Compute, stream 20 below"));
    }

    void labelsKeepTheirEventVisible() {
        ShownTimeline shown(busy_.trace);
        shown.view.resize(1100, 160);
        shown.view.state().selection().setEvent(busy_.launched);
        const TimeRange event = busy_.trace->rangeOf(busy_.launched);
        // The event at the left edge, in the middle and at the right edge of the view.
        for (const int64_t beforeNs : {100, 50'000, 99'000}) {
            shown.view.state().range().axis().setRange({event.startNs - beforeNs, event.startNs - beforeNs + 100'000});
            QApplication::processEvents();
            const QPoint at = shown.middleOf(busy_.launched);
            if (!shown.canvas()->rect().contains(at)) continue;
            for (const FlowOverlay::Label& label : shown.canvas()->flowLabels())
                QVERIFY2(!label.area.contains(at), qPrintable(label.text));
        }
    }

    void labelLeadsToItsEvent() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.call);
        shown.view.state().range().axis().setRange({0, 50'000});
        const QPoint at = shown.canvas()->flowLabels()[0].area.center().toPoint();
        shown.send(shown.canvas(), at, Qt::NoButton);
        QCOMPARE(shown.canvas()->cursor().shape(), Qt::PointingHandCursor);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, at);
        QCOMPARE(shown.view.state().selection().event(), small_.first);
        QVERIFY(shown.visible().overlaps(small_.trace->rangeOf(small_.first)));
    }

    void showsTheSelectedEventsPlace() {
        ShownTimeline shown(small_.trace);
        TimelineNavigator(shown.view.state()).showPlace({500'000, 500'000}, 0);
        QVERIFY(shown.visible().contains(500'000) && shown.visible().durationNs() < 100'000);
    }
};

LANESCOPE_TEST(tst_TimelineInput, QApplication)
#include "tst_TimelineInput.moc"
