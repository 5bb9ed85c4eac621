// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/details/DetailsPanel.h"
#include "views/timeline/TrackCanvas.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

/// A window with a trace; mouse events go to the widget that is visible at a place of the tracks.
struct Still : ShownWindow {
    Still() {
        if (!opened(simulatedTraining({.steps = 6}))) qFatal("the window stays busy");
    }
    TrackCanvas& canvas() { return child<TrackCanvas>(timeline()); }
    OverlayPanel& details() { return child<OverlayPanel>(page()); }
    TimelineState& state() { return timeline().state(); }

    /// Shows `event` alone in the middle of its surroundings, at this share of the width.
    void showAt(EventRef event, double share) {
        const TimeRange range = timeline().trace()->rangeOf(event);
        const int64_t width = range.durationNs() * 20, middle = range.startNs + range.durationNs() / 2;
        const int64_t start = middle - static_cast<int64_t>(static_cast<double>(width) * share);
        state().range().setVisible({start, start + width});
        timeline().flashTrack(timeline().trace()->locate(event).track);
        QApplication::processEvents();
    }
    /// Returns the middle of a visible event on the canvas.
    QPoint placeOf(EventRef event) {
        const SliceLocation at = timeline().trace()->locate(event);
        const LayoutRow* row = state().tracks().layout().rowOf(at.track);
        const TimeRange range = timeline().trace()->rangeOf(event);
        const double x = state().range().scale(canvas().width()).toX(range.startNs + range.durationNs() / 2);
        return {static_cast<int>(x),
                state().scroll().toScreenY(TrackLayout::laneTop(*row, at.lane) + row->laneHeight / 2)};
    }
    QWidget* widgetAt(QPoint onCanvas) { return window.childAt(canvas().mapTo(&window, onCanvas)); }
    void press(QPoint onCanvas, bool isSecond = false) {
        QWidget* under = widgetAt(onCanvas);
        const QPoint at = under->mapFromGlobal(canvas().mapToGlobal(onCanvas));
        isSecond ? QTest::mouseDClick(under, Qt::LeftButton, {}, at) : QTest::mouseClick(under, Qt::LeftButton, {}, at);
        QApplication::processEvents();
    }
};

constexpr EventRef kernel(EventKind::Kernel, 40);

}  // namespace

/// Nothing under the pointer moves unless the user moves it.
class tst_Stillness : public QObject {
    Q_OBJECT

  private slots:
    void selectingMovesNothing() {
        Still shown;
        shown.showAt(kernel, 0.4);
        const QRect canvas = shown.canvas().geometry();
        const TimeRange visible = shown.state().range().visible();
        const QPoint place = shown.placeOf(kernel);
        const auto isStill = [&] {
            return shown.canvas().geometry() == canvas && shown.state().range().visible() == visible &&
                   shown.placeOf(kernel) == place;
        };
        shown.press(place);
        QCOMPARE(shown.state().selection().event(), kernel);
        QVERIFY(shown.details().isVisible());
        QVERIFY(isStill());
        keepPicture(shown.window, "details-panel");
        QTest::keyClick(&shown.timeline(), Qt::Key_Escape);
        QVERIFY(!shown.details().isVisible());
        QVERIFY(isStill());
    }

    void doubleClickZoomsAtEveryPlace() {
        for (const double share : {0.08, 0.5, 0.85, 0.97}) {
            Still shown;
            shown.showAt(kernel, share);
            const TimeRange before = shown.state().range().visible();
            const QPoint place = shown.placeOf(kernel);
            shown.press(place);
            QVERIFY(shown.details().isVisible());
            QCOMPARE(shown.widgetAt(place), &shown.canvas());
            shown.press(place, true);
            QVERIFY(shown.state().range().visible().durationNs() < before.durationNs() / 4);
            QCOMPARE(shown.state().selection().event(), kernel);
            // All of it is next to the panel.
            const QRect details = shown.details().geometry();
            const TimeRange range = shown.timeline().trace()->rangeOf(kernel);
            const int base = shown.timeline().x();
            const double left = base + shown.timeline().places().xOf(range.startNs);
            const double right = base + shown.timeline().places().xOf(range.endNs);
            QVERIFY(shown.details().isAtLeft() ? left >= details.right() : right <= details.left());
        }
    }

    void detailsAreClosedByTheirButtonAndByEscape() {
        Still shown;
        shown.showAt(kernel, 0.4);
        shown.press(shown.placeOf(kernel));
        QTest::mouseClick(shown.details().findChild<QToolButton*>(), Qt::LeftButton);
        QVERIFY(!shown.details().isVisible() && !shown.state().selection().event().isValid());
        shown.press(shown.placeOf(kernel));
        QVERIFY(shown.details().isVisible());
        QTest::keyClick(shown.details().findChild<FactSheet*>(), Qt::Key_Escape);
        QVERIFY(!shown.details().isVisible() && !shown.state().selection().event().isValid());
    }

    void onlyTheEdgeResizesTheDetails() {
        Still shown;
        shown.showAt(kernel, 0.4);
        shown.press(shown.placeOf(kernel));
        OverlayPanel& details = shown.details();
        const QRect before = details.geometry();
        const QPoint inside(details.width() / 2, 2);
        const auto drag = [&](QPoint from, int by) {
            const QPoint to = from + QPoint(by, 0);
            QTest::mousePress(&details, Qt::LeftButton, {}, from);
            QMouseEvent move(QEvent::MouseMove, to, details.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(&details, &move);
            QTest::mouseRelease(&details, Qt::LeftButton, {}, to);
        };
        drag(inside, 60);
        drag(inside, -60);
        QCOMPARE(details.geometry(), before);
        drag({1, 2}, -60);
        QVERIFY(details.width() > before.width() + 40);
    }

    void detailsAreNoHigherThanTheirTextNorThanTheTracks() {
        Still shown;
        shown.showAt(kernel, 0.4);
        shown.press(shown.placeOf(kernel));
        const QRect tracks = shown.timeline().places().tracksArea().translated(shown.timeline().pos());
        QVERIFY(tracks.contains(shown.details().geometry()));
        // Its edge is dragged.
        const int width = shown.details().width();
        const QPoint grip(1, 20);
        QTest::mousePress(&shown.details(), Qt::LeftButton, {}, grip);
        QMouseEvent move(QEvent::MouseMove, grip - QPoint(60, 0), shown.details().mapToGlobal(grip - QPoint(60, 0)),
                         Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(&shown.details(), &move);
        QTest::mouseRelease(&shown.details(), Qt::LeftButton, {}, grip);
        QVERIFY(shown.details().width() > width + 40);
        QVERIFY(tracks.contains(shown.details().geometry()));
    }
};

LANESCOPE_TEST(tst_Stillness, QApplication)
#include "tst_Stillness.moc"
