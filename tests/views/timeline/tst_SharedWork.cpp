// SPDX-License-Identifier: GPL-3.0-or-later
#include <new>
#include <stdexcept>

#include "model/assemble/LaneBuilder.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "views/timeline/TrackGeometry.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

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

}  // namespace

class tst_SharedWork : public QObject {
    Q_OBJECT

  private slots:
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
        }
    }

    void withoutTraceNothingIsDrawn() {
        TrackGeometry geometry;
        const std::vector<LanePosition> lanes{{0, 0}};
        geometry.prepare(lanes, {});
        QVERIFY(geometry.rectangles({0, 0}).empty());
    }
};

LANESCOPE_TEST(tst_SharedWork, NoApplication)
#include "tst_SharedWork.moc"
