// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <new>
#include <stdexcept>

#include "model/assemble/LaneBuilder.h"
#include "model/lod/reduceToPixels.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/FlowOverlay.h"
#include "views/timeline/TrackLayout.h"

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

constexpr uint64_t world = 0xabcdef;
constexpr int64_t us = 1'000;

/// Three simulated ranks reduce twice, and rank 1 is the last both times. Clock errors of ranks 1
/// and 2 are 30 and 20 us.
struct Ranks {
    TracePtr trace;
    std::vector<EventRef> firsts, seconds;  ///< The kernels by rank.

    explicit Ranks(bool isNumbered = true, bool hasErrors = true) {
        SimulatedRanks job(3);
        for (int round = 0; round < 2; ++round)
            for (size_t rank = 0; rank < 3; ++rank) {
                NcclFacts facts;
                facts.sequence = isNumbered ? round : -1;
                const int64_t begin = (round * 1000 + (rank == 1 ? 400 : 200 + 50 * int64_t(rank))) * us;
                job.addCall(rank, "AllReduce", 1 << 20, (round * 1000 + 10 * int64_t(rank)) * us,
                            TimeRange{begin, (round * 1000 + 600) * us}, facts, world);
            }
        for (const size_t rank : {1, 2})
            if (hasErrors)
                job.builder.processes()[job.processes[rank]].facts.edit().clockErrorNs = rank == 1 ? 30'000 : 20'000;
        trace = job.builder.finish();
        firsts = seconds = std::vector<EventRef>(3);
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            const EventRef kernel(EventKind::Kernel, row);
            const uint32_t call = trace->launchingCall(kernel).row();
            const uint32_t process = trace->threads[trace->apiCalls.thread[call]].process;
            const uint32_t rank = process - job.processes.front();
            (trace->kernels.startNs[row] < 1000 * us ? firsts : seconds)[rank] = kernel;
        }
    }
};

int differences(const QImage& a, const QImage& b, const QRect& area) {
    int count = 0;
    const QRect inside = area.intersected(a.rect());
    for (int y = inside.top(); y <= inside.bottom(); ++y)
        for (int x = inside.left(); x <= inside.right(); ++x) count += a.pixel(x, y) != b.pixel(x, y) ? 1 : 0;
    return count;
}

/// A trace of only lanes and counters, as wide as they are distinguishable.
TracePtr traceOf(uint32_t laneCount, uint32_t counterCount) {
    const TracePtr made = SimulatedTrace().finish();
    Trace& trace = forged(made);
    trace.tracks.clear();
    Track track;
    for (uint32_t lane = 0; lane < laneCount; ++lane) {
        Lane& added = track.lanes.emplace_back();
        for (int64_t slice = 0; slice < 500; ++slice)
            appendSlice(added, slice * 100 + lane, slice * 100 + 50 + lane, lane, EventRef(EventKind::Kernel, 0),
                        SliceCategory::Kernel);
    }
    trace.tracks.push_back(std::move(track));
    for (uint32_t counter = 0; counter < counterCount; ++counter)
        trace.counters.emplace_back().set({0, 10'000, 30'000}, {1.0, 2.0 + counter, 3.0}, 50'000);
    return made;
}

bool areEqual(const std::vector<PixelSlice>& a, const std::vector<PixelSlice>& b) {
    return std::ranges::equal(a, b, [](const PixelSlice& x, const PixelSlice& y) {
        return x.left == y.left && x.right == y.right && x.firstSlice == y.firstSlice && x.sliceCount == y.sliceCount &&
               x.coverage == y.coverage && x.category == y.category && x.name == y.name;
    });
}

constexpr int64_t ms = 1'000'000;

/// One stream works from 0 to 10 ms, another from 90 to 100 ms.
struct Shown {
    Shown() {
        SimulatedTrace builder;
        const uint32_t early = builder.defaultStream(), late = builder.addStream(0, 0, 20);
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

class tst_PairedRows : public QObject {
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
        QVERIFY(before != paired.canvasImage());
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
        QVERIFY(paired.shown.view.isBaselineOverlayVisible() && paired.canvasImage() != without);
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

    void workOfAllRanksIsOneCollective() {
        const Ranks ranks;
        const std::vector<EventRef> expected{ranks.firsts[0], ranks.firsts[2], ranks.firsts[1]};
        for (const EventRef each : ranks.firsts) QVERIFY(collectiveOf(*ranks.trace, each) == expected);
        QCOMPARE(collectiveOf(*ranks.trace, ranks.seconds[1]).back(), ranks.seconds[1]);
        const Ranks unnumbered(false);
        QVERIFY(collectiveOf(*unnumbered.trace, unnumbered.firsts[0]).empty());
        QVERIFY(collectiveOf(*ranks.trace, EventRef()).empty());
        QVERIFY(collectiveOf(*ranks.trace, ranks.trace->launchingCall(ranks.firsts[0])).empty());
    }

    void smallDifferencesAreNoError() {
        Process process;
        QCOMPARE(clockErrorNs(process), int64_t{0});
        for (const char* odd : {"", "-5", "12 us", "99999999999999999999"}) {
            takeNamedFact(process.facts.edit(), facts::clockErrorNs, odd);
            QCOMPARE(clockErrorNs(process), int64_t{0});
            process.facts.edit().clockErrorNs.reset();
        }
        takeNamedFact(process.facts.edit(), facts::clockErrorNs, "16006");
        QCOMPARE(clockErrorNs(process), int64_t{16'006});
    }

    void lastRankPointsAtTheWaitingRanks() {
        const Ranks ranks;
        TrackLayout layout;
        layout.setTracks(ranks.trace->tracks);
        const auto ofRanks = [&](EventRef event) {
            std::vector<FlowArrow> found;
            for (const FlowArrow& each : flowArrows(*ranks.trace, layout, event))
                if (each.kind == FlowKind::Rank) found.push_back(each);
            return found;
        };
        // One arrow, to the rank that waited longest; the others are counted.
        const auto all = ofRanks(ranks.firsts[1]);
        QCOMPARE(all.size(), size_t{1});
        QCOMPARE(test::listed(all[0].from.event, all[0].to.timeNs), test::listed(ranks.firsts[1], 400 * us));
        QCOMPARE(test::listed(all[0].far, all[0].to.event), test::listed(all[0].to.event, ranks.firsts[0]));
        QCOMPARE(test::listed(all[0].errorNs, all[0].others), test::listed(30 * us, 1));
        // A waiting rank shows only the rank that it waited for.
        const auto one = ofRanks(ranks.firsts[2]);
        QCOMPARE(one.size(), size_t{1});
        QCOMPARE(test::listed(one[0].to.event, one[0].far), test::listed(ranks.firsts[2], ranks.firsts[1]));
        QCOMPARE(test::listed(one[0].others, one[0].errorNs), test::listed(0, 50 * us));
    }

    void onlyTheDecidingWaitIsDrawn() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.addStream(0, gpu, 1);
        std::vector<EventRef> works;
        // Three streams are awaited: one ended long before the launch, the last one just before the start.
        for (uint32_t other = 0; other < 3; ++other) {
            const uint32_t awaited = builder.addStream(0, gpu, 10 + static_cast<int64_t>(other));
            works.push_back(builder.addKernel(awaited, "copy", other * 300 * us, (other * 300 + 100) * us, 1 + other));
            builder.eventRecord({awaited, 3 + other, noIndex, 10 + other});
            builder.eventWait({stream, 3 + other, noIndex, 20 + other});
        }
        builder.addApi(thread, "cudaLaunchKernel", 400 * us, 410 * us, 100);
        const EventRef waiting = builder.addKernel(stream, "waiting", 710 * us, 800 * us, 100);
        const TracePtr trace = builder.finish();
        TrackLayout layout;
        layout.setTracks(trace->tracks);
        std::vector<FlowArrow> waits;
        for (const FlowArrow& each : flowArrows(*trace, layout, waiting))
            if (each.kind == FlowKind::Wait) waits.push_back(each);
        QCOMPARE(waits.size(), size_t{1});
        QCOMPARE(test::listed(waits[0].from.event, waits[0].others), test::listed(works[2], 2));
        // The plate next to the arrow counts them.
        ShownTimeline shown(trace);
        shown.view.state().tracks().setAllFolded(false);
        shown.view.state().selection().setEvent(waiting);
        QApplication::processEvents();
        QStringList texts;
        for (const FlowOverlay::Label& each : shown.canvas()->flowLabels()) texts << each.text;
        QVERIFY2(texts.contains("and 2 more waits"), qPrintable(texts.join(" | ")));
    }

    void clockErrorIsAWhisker() {
        const Ranks ranks, ofOneClock(true, false);
        ShownTimeline shown(ranks.trace), certain(ofOneClock.trace);
        const auto picture = [](ShownTimeline& timeline, EventRef selected) {
            timeline.view.state().tracks().setAllFolded(false);
            timeline.view.state().selection().setEvent(selected);
            QApplication::processEvents();
            return timeline.canvas()->grab().toImage();
        };
        const QImage whisker = picture(shown, ranks.firsts[0]), plain = picture(certain, ofOneClock.firsts[0]);
        // Next to the arrowhead, within the error of 30 us, and beyond it.
        const int head = int(shown.toX(400 * us)), edge = int(shown.toX(430 * us));
        const int y = shown.middleOf(ranks.firsts[0]).y();
        QVERIFY(edge - head > 12);
        QVERIFY(differences(whisker, plain, {head + 7, y - 4, edge - head - 9, 8}) > 20);
        QCOMPARE(differences(whisker, plain, {edge + 3, y - 4, 40, 8}), 0);
    }

    void everyPieceIsDoneOnce() {
        SharedWork work;
        for (size_t count = 0; count < 200; ++count) {
            std::vector<std::atomic<int>> calls(count);
            work.run(count, [&](size_t piece) { ++calls[piece]; });
            for (const std::atomic<int>& each : calls) QCOMPARE(each.load(), 1);
        }
    }

    void returnsOnlyWhenAllIsDone() {
        SharedWork work;
        for (int round = 0; round < 50; ++round) {
            std::atomic<int> ended{0};
            work.run(8, [&](size_t piece) {
                if (piece % 2 == 0) QThread::usleep(200);
                ++ended;
            });
            QCOMPARE(ended.load(), 8);
        }
    }

    void exceptionIsRethrownAfterAllPiecesEnd() {
        SharedWork work;
        for (int round = 0; round < 50; ++round) {
            std::atomic<int> calls{0};
            QVERIFY_THROWS_EXCEPTION(std::runtime_error, work.run(9, [&](size_t piece) {
                ++calls;
                if (piece % 4 == 3) throw std::runtime_error("simulated");
            }));
            QCOMPARE(calls.load(), 10);  // and the first failed piece again
        }
    }

    void failedPieceIsRepeatedByTheCaller() {
        SharedWork work;
        for (int round = 0; round < 50; ++round) {
            std::array<std::atomic<int>, 9> calls{};
            std::atomic<int> ended{0};
            work.run(9, [&](size_t piece) {
                if (++calls[piece] == 1 && piece % 2 == 0) throw std::bad_alloc();
                ++ended;
            });
            QCOMPARE(ended.load(), 9);
        }
    }

    void parallelLanesEqualSequentialOnes() {
        const TracePtr trace = traceOf(40, 20);
        std::vector<LanePosition> lanes;
        for (uint32_t lane = 0; lane < 40; ++lane) lanes.push_back({0, lane});
        std::vector<uint32_t> counters;
        for (uint32_t counter = 0; counter < 20; ++counter) counters.push_back(counter);

        // Pixels of more than a nanosecond, then of less.
        for (const TimeRange range : {TimeRange{0, 50'000}, TimeRange{120, 420}}) {
            TrackGeometry together, single;
            together.setTrace(trace);
            single.setTrace(trace);
            together.setView(range, 700);
            single.setView(range, 700);
            together.prepare(lanes, counters);
            QCOMPARE(together.cachedLaneCount(), lanes.size());
            for (const LanePosition lane : lanes) {
                QVERIFY(!together.rectangles(lane).empty());
                QVERIFY(areEqual(together.rectangles(lane), single.rectangles(lane)));
            }
            for (const uint32_t counter : counters) QVERIFY(together.columns(counter) == single.columns(counter));
            // A second picture of the same view computes nothing again.
            const void* const first = together.rectangles(lanes[0]).data();
            together.prepare(lanes, counters);
            QCOMPARE(together.cachedLaneCount(), lanes.size());
            QCOMPARE(static_cast<const void*>(together.rectangles(lanes[0]).data()), first);
        }
    }

    void withoutTraceNothingIsDrawn() {
        TrackGeometry geometry;
        const std::vector<LanePosition> lanes{{0, 0}};
        geometry.prepare(lanes, {});
        QVERIFY(geometry.rectangles({0, 0}).empty());
    }

    void tracksEmptyInViewAreHiddenAndReturn() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        QVERIFY(shown.waitForRest() && shown.isSeen(7) && shown.isSeen(20));
        shown.showRange(0, 20);
        QVERIFY(shown.timeline.emptyTracks().isWaiting());
        QVERIFY2(shown.isSeen(20), "rows stay while the view moves");
        QVERIFY(shown.waitForRest() && shown.isSeen(7) && !shown.isSeen(20));
        shown.showRange(80, 100);
        QVERIFY(shown.waitForRest() && !shown.isSeen(7) && shown.isSeen(20));
        shown.timeline.emptyTracks().setOn(false);
        QVERIFY(shown.isSeen(7) && shown.isSeen(20));
    }

    void rowUnderThePointerStaysWhenOthersVanish() {
        SimulatedTrace builder;
        for (int64_t stream = 0; stream < 8; ++stream) {
            const uint32_t added = stream == 0 ? builder.defaultStream() : builder.addStream(0, 0, 20 + stream);
            // The sixth stream always works, the others only at first.
            for (int64_t at = 0; at < (stream == 5 ? 100 : 10); ++at)
                builder.addKernel(added, "gemm", at * ms, at * ms + ms / 2);
        }
        const TracePtr trace = builder.finish();
        for (const int height : {900, 260}) {
            ShownTimeline shown(trace);
            shown.view.resize(900, height);
            shown.view.emptyTracks().setOn(true);
            uint32_t track = noIndex;
            for (uint32_t each = 0; each < shown.view.trace()->tracks.size(); ++each)
                if (shown.view.trace()->tracks[each].title.find("25") != std::string::npos) track = each;
            QVERIFY(track != noIndex);
            shown.view.flashTrack(track);
            QApplication::processEvents();
            const QRect before = shown.view.places().trackArea(track);
            QVERIFY(!before.isEmpty());
            const QPoint pointer(600, before.center().y() - shown.canvas()->y());
            ShownTimeline::send(shown.canvas(), pointer, Qt::NoButton);
            for (int notch = 0; notch < 12; ++notch) ShownTimeline::wheel(shown.canvas(), pointer, {0, 120});
            QVERIFY(QTest::qWaitFor([&] { return !shown.view.emptyTracks().isWaiting(); }));
            QCOMPARE(shown.view.places().trackArea(track).top(), before.top());
            QVERIFY(!shown.view.places().trackArea(track).isEmpty());
            // Rows below have vanished, and those above do when the pointer is elsewhere.
            QEvent leave(QEvent::Leave);
            QApplication::sendEvent(shown.canvas(), &leave);
            shown.view.state().range().zoomAt(shown.visible().startNs, 1.2);
            QVERIFY(QTest::qWaitFor([&] { return !shown.view.emptyTracks().isWaiting(); }));
            int streams = 0;
            for (const LayoutRow& row : shown.view.state().tracks().layout().rows())
                streams += shown.view.trace()->tracks[row.track].kind == TrackKind::Stream ? 1 : 0;
            QCOMPARE(streams, 1);
        }
    }

    void rowUnderThePointerStaysWhenAFilterEnds() {
        ShownTimeline shown(simulatedTraining({.steps = 2}));
        QLineEdit& filter = *shown.view.findChild<QLineEdit*>();
        const uint32_t second = trackOf(*shown.view.trace(), TrackKind::Gpu, "GPU 1");
        const auto place = [&] { return shown.view.places().trackArea(second); };
        filter.setFocus();
        QTest::keyClicks(&filter, "gpu 1");
        QVERIFY(!shown.view.state().tracks().layout().rowOf(trackOf(*shown.view.trace(), TrackKind::Gpu, "GPU 0")));
        const QRect filtered = place();
        ShownTimeline::send(shown.canvas(), {300, filtered.center().y() - shown.canvas()->y()}, Qt::NoButton);
        filter.selectAll();
        QTest::keyClick(&filter, Qt::Key_Delete);
        QVERIFY(shown.view.state().tracks().layout().rowOf(trackOf(*shown.view.trace(), TrackKind::Gpu, "GPU 0")));
        QCOMPARE(place().top(), filtered.top());
        QVERIFY(shown.view.state().scroll().y() > 0);
        // If the row goes, the matches begin at the top.
        QTest::keyClicks(&filter, "gpu 0");
        QCOMPARE(shown.view.state().scroll().y(), 0);
    }

    void foldedRowStaysUnderThePointer() {
        ShownTimeline shown(simulatedTraining({.steps = 2}));
        shown.view.resize(900, 300);
        shown.view.state().tracks().setAllFolded(false);
        shown.view.commands().scrollToBottom();
        QApplication::processEvents();
        const auto area = [&](uint32_t track) { return shown.view.places().trackArea(track); };
        uint32_t group = noIndex;
        for (const LayoutRow& row : shown.view.state().tracks().layout().rows())
            if (row.canFold && area(row.track).height() >= 20) group = row.track;
        QVERIFY(group != noIndex);
        const int top = area(group).top();
        for (int click = 0; click < 2; ++click) {
            QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {60, top - shown.labels()->y() + 6});
            QCOMPARE(area(group).top(), top);
        }
    }

    void entirelyEmptyViewKeepsAllTracks() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(40, 60);
        QVERIFY(shown.waitForRest() && shown.isSeen(7) && shown.isSeen(20));
    }

    void revealedTrackIsShownAtOnce() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(0, 20);
        QVERIFY(shown.waitForRest() && !shown.isSeen(20));
        const EventRef last(EventKind::Kernel, shown.timeline.trace()->kernels.size() - 1);
        shown.timeline.revealEvent(last);
        QVERIFY(shown.isSeen(20) && shown.waitForRest() && shown.isSeen(20));
    }

    void skippedEmptyTracksAreNoPartOfTheArrangement() {
        Shown shown;
        shown.timeline.emptyTracks().setOn(true);
        shown.showRange(0, 20);
        QVERIFY(shown.waitForRest() && shown.timeline.state().tracks().arrangement().isDefault());
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

LANESCOPE_TEST(tst_PairedRows, QApplication)
#include "tst_PairedRows.moc"
