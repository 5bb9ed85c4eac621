// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

/// One stream works from 0 to 10 ms, another from 90 to 100 ms.
struct Shown {
    Shown() {
        SimulatedTrace builder;
        const uint32_t early = builder.defaultStream();
        const uint32_t late = builder.addStream(0, 0, 20);
        for (int64_t at = 0; at < 10; ++at) {
            builder.addKernel(early, "gemm", at * ms, at * ms + ms / 2);
            builder.addKernel(late, "gemm", (90 + at) * ms, (90 + at) * ms + ms / 2);
        }
        timeline.setTrace(builder.finish());
        timeline.resize(900, 500);
        timeline.show();
    }
    bool isSeen(int64_t stream) {
        const Trace& trace = *timeline.trace();
        for (uint32_t track = 0; track < trace.tracks.size(); ++track)
            if (trace.tracks[track].kind == TrackKind::Stream &&
                trace.streams[trace.tracks[track].subject].streamId == stream)
                return !timeline.places().trackArea(track).isEmpty() &&
                       timeline.places().trackAt(timeline.places().trackArea(track).center().y()) == track;
        return false;
    }
    void showRange(int64_t fromMs, int64_t toMs) { timeline.state().range().axis().setRange({fromMs * ms, toMs * ms}); }
    bool waitForRest() {
        return QTest::qWaitFor([this] { return !timeline.emptyTracks().isWaiting(); });
    }
    TimelineView timeline;
};

}  // namespace

class TestEmptinessKeeper : public QObject {
    Q_OBJECT
  private slots:
    void tracksEmptyInViewAreHiddenAndReturn() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        QVERIFY(shown.waitForRest());
        QVERIFY(shown.isSeen(7) && shown.isSeen(20));
        shown.showRange(0, 20);
        QVERIFY(shown.timeline.emptyTracks().isWaiting());
        QVERIFY2(shown.isSeen(20), "rows stay while the view moves");
        QVERIFY(shown.waitForRest());
        QVERIFY(shown.isSeen(7) && !shown.isSeen(20));
        shown.showRange(80, 100);
        QVERIFY(shown.waitForRest());
        QVERIFY(!shown.isSeen(7) && shown.isSeen(20));
        shown.timeline.emptyTracks().setOn(false);
        QVERIFY(shown.isSeen(7) && shown.isSeen(20));
    }

    void entirelyEmptyViewKeepsAllTracks() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(40, 60);
        QVERIFY(shown.waitForRest());
        QVERIFY(shown.isSeen(7) && shown.isSeen(20));
    }

    void revealedTrackIsShownAtOnce() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(0, 20);
        QVERIFY(shown.waitForRest());
        QVERIFY(!shown.isSeen(20));
        const EventRef last(EventKind::Kernel, shown.timeline.trace()->kernels.size() - 1);
        shown.timeline.revealEvent(last);
        QVERIFY(shown.isSeen(20));
        QVERIFY(shown.waitForRest());
        QVERIFY(shown.isSeen(20));
    }

    void skippedEmptyTracksAreNoPartOfTheArrangement() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(0, 20);
        QVERIFY(shown.waitForRest());
        QVERIFY(shown.timeline.state().tracks().arrangement().isDefault());
    }

    void emptyTracksStayWithACompanion() {
        Shown shown;
        TimelineView companion;
        shown.timeline.emptyTracks().setOn(true);
        shown.timeline.setCompanion(companion, {});
        QVERIFY(!shown.timeline.emptyTracks().isOn());
        shown.timeline.emptyTracks().setOn(true);
        QVERIFY(!shown.timeline.emptyTracks().isOn());
    }
};

LANESCOPE_TEST(TestEmptinessKeeper, QApplication)
#include "tst_EmptinessKeeper.moc"
