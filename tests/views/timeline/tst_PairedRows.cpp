// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "model/lod/reduceToPixels.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::views;

namespace {

/// Two traces in one timeline; `view` is visible, `other` stays hidden.
struct Paired {
    Paired(TracePtr baseline, TracePtr candidate) : shown(std::move(baseline)), other(&shown.view) {
        other.hide();
        shown.view.state().range().setAxis(&range);
        other.state().range().setAxis(&range);
        other.setTrace(std::move(candidate));
        range.fit();
        shown.view.setCompanion(other, pairTracks(*shown.view.trace(), *other.trace()));
        QApplication::processEvents();
    }
    /// The first row of tracks that starts with `title` in either trace, by its height on screen.
    QImage canvasImage() { return shown.canvas()->grab().toImage(); }

    VisibleRange range;
    ShownTimeline shown;
    TimelineView other;
};

}  // namespace

class TestPairedRows : public QObject {
    Q_OBJECT
  private slots:
    void clickBetweenTheRowsSelectsInTheOtherTrace() {
        const SmallTrace small;
        Paired paired(small.trace, SmallTrace().trace);
        const QPoint own = paired.shown.middleOf(small.first);
        // GPU rows come first: its title row twice, then the stream of each side.
        const int header = paired.shown.metrics().headerHeight;
        const QPoint ofFirst(own.x(), own.y() + header);
        QTest::mouseClick(paired.shown.canvas(), Qt::LeftButton, {}, ofFirst);
        QCOMPARE(paired.shown.view.state().selection().event(), small.first);
        QVERIFY(!paired.other.state().selection().event().isValid());
        const QPoint ofSecond(own.x(), own.y() + 2 * header);
        QTest::mouseClick(paired.shown.canvas(), Qt::LeftButton, {}, ofSecond);
        QCOMPARE(paired.other.state().selection().event(), small.first);
    }

    void keysMoveTheSelectionOfTheActiveSide() {
        const SmallTrace small;
        Paired paired(small.trace, SmallTrace().trace);
        paired.other.state().selection().setEvent(small.first);
        QTest::keyClick(&paired.shown.view, Qt::Key_Right);
        QCOMPARE(paired.other.state().selection().event(), small.second);
        QVERIFY(!paired.shown.view.state().selection().event().isValid());
    }

    void bSelectsTheSameEventOnTheOtherSide() {
        const SmallTrace small;
        Paired paired(small.trace, SmallTrace().trace);
        paired.shown.view.state().selection().setEvent(small.second);
        QTest::keyClick(&paired.shown.view, Qt::Key_B);
        QCOMPARE(paired.other.state().selection().event(), small.second);
    }

    void foldingOneSideFoldsTheOther() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        Paired paired(trace, simulatedTraining({.steps = 2, .kernelScale = 1.5}));
        const QImage before = paired.canvasImage();
        QTest::mouseClick(paired.shown.labels(), Qt::LeftButton, {}, {20, 10});
        QApplication::processEvents();
        const QImage folded = paired.canvasImage();
        QVERIFY(before != folded);
        // The second row is the same GPU of the other run: unfolding there unfolds both.
        const int header = paired.shown.metrics().headerHeight;
        QTest::mouseClick(paired.shown.labels(), Qt::LeftButton, {}, {20, header + 10});
        QApplication::processEvents();
        QCOMPARE(paired.canvasImage(), before);
    }

    void arrangementIsSharedByBothSides() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        Paired paired(trace, simulatedTraining({.steps = 2, .kernelScale = 1.5}));
        const auto areAlike = [&] {
            return paired.shown.view.state().tracks().arrangement() == paired.other.state().tracks().arrangement();
        };
        QTest::mouseClick(paired.shown.labels(), Qt::LeftButton, {}, {60, 10});
        for (const auto& [key, modifiers] :
             {std::pair(Qt::Key_Down, Qt::KeyboardModifiers(Qt::AltModifier)),
              std::pair(Qt::Key_P, Qt::KeyboardModifiers()), std::pair(Qt::Key_H, Qt::KeyboardModifiers())}) {
            const TrackArrangement before = paired.shown.view.state().tracks().arrangement();
            QTest::keyClick(&paired.shown.view, key, modifiers);
            QVERIFY(paired.shown.view.state().tracks().arrangement() != before);
            QVERIFY(areAlike());
        }
        paired.shown.view.commands().showAllTracks();
        QVERIFY(areAlike());
        // The other side of the same track, by its own label: the second of the pinned rows.
        const int header = paired.shown.metrics().headerHeight;
        QTest::mouseClick(paired.shown.labels(), Qt::LeftButton, {}, {60, header + 10});
        QTest::keyClick(&paired.shown.view, Qt::Key_P);
        QVERIFY(paired.other.state().tracks().arrangement().pinned.empty());
        QVERIFY(areAlike());
    }

    void tracksUsedByOneSideInViewAreNotHidden() {
        Paired paired(simulatedTraining({.steps = 2}), simulatedTraining({.steps = 6}));
        // After the end of the shorter run.
        const int64_t endNs = paired.shown.view.trace()->range.durationNs();
        const int64_t longEndNs = paired.other.trace()->range.durationNs();
        QVERIFY(longEndNs > endNs + endNs / 2);
        paired.range.setRange({endNs + endNs / 4, longEndNs});
        paired.shown.view.commands().hideEmptyTracks();
        TrackLayout layout;
        layout.setTracks(paired.other.trace()->tracks);
        layout.setArrangement(paired.other.state().tracks().arrangement());
        const std::vector<bool> isEmpty =
            emptyTracks(*paired.other.trace(), paired.range.range().shifted(paired.other.state().range().origin()));
        QVERIFY(std::ranges::count(isEmpty, false) > 5);
        for (uint32_t track = 0; track < isEmpty.size(); ++track)
            if (!isEmpty[track]) QVERIFY(!layout.isHidden(track));
    }

    void pinnedRowsOfBothSidesAreAboveTheRest() {
        const SmallTrace small;
        Paired paired(small.trace, SmallTrace().trace);
        paired.shown.view.state().selection().setEvent(small.onOtherStream);
        QTest::keyClick(&paired.shown.view, Qt::Key_P);
        const int header = paired.shown.metrics().headerHeight;
        const QPoint own = paired.shown.middleOf(small.onOtherStream);
        QTest::mouseClick(paired.shown.canvas(), Qt::LeftButton, {}, {own.x(), header + header / 2});
        QCOMPARE(paired.other.state().selection().event(), small.onOtherStream);
        QTest::mouseClick(paired.shown.canvas(), Qt::LeftButton, {}, {own.x(), header / 2});
        QCOMPARE(paired.shown.view.state().selection().event(), small.onOtherStream);
    }

    void baselineOverlayIsDrawnOnRequest() {
        Paired paired(simulatedTraining({.steps = 2}), simulatedTraining({.steps = 2, .kernelScale = 1.5}));
        const QImage without = paired.canvasImage();
        paired.shown.view.setBaselineOverlayVisible(true);
        QVERIFY(paired.shown.view.isBaselineOverlayVisible());
        QVERIFY(paired.canvasImage() != without);
        paired.shown.view.setBaselineOverlayVisible(false);
        QCOMPARE(paired.canvasImage(), without);
    }

    void companionTraceMayBeReplacedOrRemoved() {
        auto range = std::make_unique<VisibleRange>();
        ShownTimeline shown(simulatedTraining({.steps = 2}));
        auto other = std::make_unique<TimelineView>();
        shown.view.state().range().setAxis(range.get());
        other->state().range().setAxis(range.get());
        for (const int gpus : {2, 1, 2}) {
            other->setTrace(simulatedTraining({.steps = 1, .gpuCount = gpus}));
            shown.view.setCompanion(*other, pairTracks(*shown.view.trace(), *other->trace()));
            QVERIFY(!shown.view.grab().isNull());
        }
        other->revealEvent(EventRef(EventKind::Kernel, 3));
        QVERIFY(!shown.view.grab().isNull());
        other.reset();
        QTest::keyClick(&shown.view, Qt::Key_B);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, {200, 100});
        QVERIFY(!shown.view.grab().isNull());
    }

    void stripIsBetweenRulerAndTracks() {
        ShownTimeline shown(simulatedTraining({.steps = 2}));
        const int before = shown.canvas()->y();
        auto* strip = new QWidget;
        shown.view.setStrip(new QWidget, strip, 40);
        QCOMPARE(strip->geometry().left(), shown.canvas()->x());
        QCOMPARE(strip->width(), shown.canvas()->width());
        QCOMPARE(shown.canvas()->y(), before + 40);
        shown.view.setStrip(nullptr, nullptr, 0);
        QCOMPARE(shown.canvas()->y(), before);
    }
};

LANESCOPE_TEST(TestPairedRows, QApplication)
#include "tst_PairedRows.moc"
