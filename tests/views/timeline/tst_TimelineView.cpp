// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/FlowOverlay.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

int pixelsOf(const QImage& image, const QColor& color) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
    }
    return count;
}

}  // namespace

class tst_TimelineView : public QObject {
    Q_OBJECT

  private slots:
    void emptyViewShowsAnInstruction() {
        ShownTimeline shown(nullptr);
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, shown.view.state().options().theme().canvas) < image.width() * image.height());
        // No click here may crash.
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, {100, 100});
        doubleClick(shown.canvas(), {100, 100});
        shown.drag(shown.ruler(), {10, 5}, {200, 5});
        shown.drag(shown.overview(), {10, 5}, {200, 5});
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {20, 20});
        for (const Qt::Key key : {Qt::Key_W, Qt::Key_F, Qt::Key_Z, Qt::Key_Left, Qt::Key_Down, Qt::Key_Escape}) {
            QTest::keyClick(&shown.view, key);
        }
        shown.view.revealEvent(EventRef(EventKind::Kernel, 5));
        QVERIFY(!shown.view.state().selection().range());
    }

    void traceWithoutEventsIsPainted() {
        ShownTimeline shown(SimulatedTrace().finish());
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, shown.view.state().options().theme().canvas) < image.width() * image.height());
        QVERIFY(!shown.view.grab().isNull());
    }

    void newTraceIsShownCompletely() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        shown.view.state().range().axis().setRange({1'000, 2'000});
        shown.view.state().selection().setEvent(small.first);
        const TracePtr other = simulatedTraining();
        shown.view.setTrace(other);
        QVERIFY(shown.view.state().range().axis().isFitted());
        QVERIFY(shown.visible().startNs <= other->range.startNs);
        QVERIFY(shown.visible().endNs >= other->range.endNs);
        QVERIFY(!shown.view.state().selection().event().isValid());
    }

    void viewsOnOneRangeMoveTogether() {
        const SmallTrace small;
        VisibleRange shared;
        ShownTimeline left(small.trace);
        ShownTimeline right(small.trace);
        left.view.state().range().setAxis(&shared);
        right.view.state().range().setAxis(&shared);
        left.view.state().range().setOrigin(100'000);
        right.view.state().range().setOrigin(300'000);
        shared.setRange({0, 50'000});
        QCOMPARE(left.visible(), (TimeRange{100'000, 150'000}));
        QCOMPARE(right.visible(), (TimeRange{300'000, 350'000}));

        left.wheel(left.canvas(), {200, 100}, {0, 120});
        QVERIFY(shared.range().durationNs() < 50'000);
        QCOMPARE(right.visible(), left.visible().shifted(200'000));
        right.drag(right.canvas(), {300, 100}, {250, 100});
        QCOMPARE(right.visible(), left.visible().shifted(200'000));
        // Selections stay in each trace's own time.
        right.drag(right.ruler(), {10, 5}, {210, 5});
        QVERIFY(right.view.state().selection().range()->startNs >= 300'000);
        QVERIFY(!left.view.state().selection().range());
    }

    void sharedRangeMayBeDestroyedFirst() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        VisibleRange* const own = &shown.view.state().range().axis();
        {
            VisibleRange shared;
            shown.view.state().range().setAxis(&shared);
            QCOMPARE(&shown.view.state().range().axis(), &shared);
        }
        QCOMPARE(&shown.view.state().range().axis(), own);
        shown.view.commands().fit();
        QVERIFY(shown.visible().durationNs() >= small.trace->range.durationNs());
        QVERIFY(!shown.view.grab().isNull());
    }

    void revealEventMakesItVisible() {
        const TracePtr trace = simulatedTraining();
        ShownTimeline shown(trace);
        shown.view.resize(1100, 220);
        shown.view.state().tracks().setAllFolded(true);
        for (const EventRef event :
             {EventRef(EventKind::Kernel, trace->kernels.size() - 1), EventRef(EventKind::Api, 3),
              EventRef(EventKind::Nvtx, trace->nvtx.size() / 2), EventRef(EventKind::Memcpy, 0)}) {
            shown.view.revealEvent(event);
            QApplication::processEvents();
            QCOMPARE(shown.view.state().selection().event(), event);
            const TimeRange range = trace->rangeOf(event);
            QVERIFY(shown.visible().startNs <= range.startNs && shown.visible().endNs >= range.endNs);
            QVERIFY(shown.toX(range.endNs) - shown.toX(range.startNs) >= 10);
            // Its outline is visible, so it was scrolled and unfolded to.
            const QImage image = shown.canvas()->grab().toImage();
            QVERIFY(pixelsOf(image, shown.view.state().options().theme().text) > 20);
        }
    }

    void revealingAnEventWithoutTrackOnlySelects() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        const TimeRange before = shown.visible();
        shown.view.revealEvent(EventRef(EventKind::Kernel, 4'000'000));
        QCOMPARE(shown.visible(), before);
        QVERIFY(!shown.view.grab().isNull());
    }

    void hitsArePainted() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        const QColor color = shown.view.state().options().theme().searchHit;
        QCOMPARE(pixelsOf(shown.view.grab().toImage(), color), 0);
        shown.view.state().selection().setHits(SearchHits::of(*small.trace, {small.second, small.onOtherStream}));
        QVERIFY(pixelsOf(shown.canvas()->grab().toImage(), color) > 100);
        QVERIFY(pixelsOf(shown.overview()->grab().toImage(), color) > 0);
        shown.view.state().selection().setHits(nullptr);
        QCOMPARE(pixelsOf(shown.view.grab().toImage(), color), 0);
    }

    void selectedCallsPointAtTheirWork() {
        const SmallTrace small;
        TrackLayout layout;
        layout.setTracks(small.trace->tracks);
        for (const EventRef event : {small.call, small.first}) {
            const auto arrows = flowArrows(*small.trace, layout, event);
            QCOMPARE(arrows.size(), 1u);
            QCOMPARE(arrows[0].from.timeNs, 20'000);
            QCOMPARE(arrows[0].to.timeNs, 100'000);
            QVERIFY(arrows[0].from.y > arrows[0].to.y);  // threads are below GPUs
        }
        QVERIFY(flowArrows(*small.trace, layout, small.second).empty());
        QVERIFY(flowArrows(*small.trace, layout, EventRef()).empty());
    }

    void flowsOfFoldedTracksEndAtTheirGroup() {
        const SmallTrace small;
        TrackLayout layout;
        layout.setTracks(small.trace->tracks);
        layout.setAllFolded(true);
        const auto arrows = flowArrows(*small.trace, layout, small.call);
        QCOMPARE(arrows.size(), 1u);
        QCOMPARE(arrows[0].to.y, layout.rows().front().height / 2.0);
    }

    void themesRepaint() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        shown.view.state().options().setTheme(Theme::dark());
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, Theme::dark().canvas) > image.width());
        QVERIFY(pixelsOf(image, Theme::light().canvas) < 100);  // except white text on slices
    }

    void lateTimesArePaintedLikeEarlyOnes() {
        const int64_t late = 40LL * 24 * 3600 * 1'000'000'000;  // forty days in
        const auto picture = [](int64_t offsetNs) {
            SimulatedTrace builder;
            const uint32_t stream = builder.defaultStream();
            for (int i = 0; i < 50; ++i) {
                builder.addKernel(stream, "kernel", offsetNs + i * 1'000, offsetNs + i * 1'000 + 700);
            }
            ShownTimeline shown(builder.finish());
            shown.view.state().range().setOrigin(offsetNs);
            shown.view.state().range().axis().setRange({10'000, 20'000});
            return shown.canvas()->grab().toImage();
        };
        QCOMPARE(picture(late), picture(0));
    }

    void partsHaveAccessibleRoles() {
        ShownTimeline shown(SmallTrace().trace);
        const auto roleOf = [](QObject* part) { return QAccessible::queryAccessibleInterface(part)->role(); };
        QCOMPARE(roleOf(&shown.view), QAccessible::Chart);
        QCOMPARE(roleOf(shown.labels()), QAccessible::Tree);
        QCOMPARE(roleOf(shown.canvas()), QAccessible::Graphic);
        QCOMPARE(roleOf(shown.overview()), QAccessible::Graphic);
        QCOMPARE(roleOf(shown.ruler()), QAccessible::Indicator);
    }
};

LANESCOPE_TEST(tst_TimelineView, QApplication)
#include "tst_TimelineView.moc"
