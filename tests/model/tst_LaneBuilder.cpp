// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/LaneBuilder.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Interval {
    int64_t startNs;
    int64_t endNs;
};

std::vector<Interval> randomIntervals(std::mt19937& random, int count) {
    std::uniform_int_distribution<int64_t> start(0, 2000);
    std::uniform_int_distribution<int64_t> length(0, 60);
    std::vector<Interval> intervals;
    for (int i = 0; i < count; ++i) {
        const int64_t startNs = start(random);
        intervals.push_back({startNs, startNs + length(random)});
    }
    return intervals;
}

std::vector<Lane> build(const std::vector<Interval>& intervals, Packing packing) {
    LaneBuilder builder(packing);
    for (uint32_t i = 0; i < intervals.size(); ++i)
        builder.add(intervals[i].startNs, intervals[i].endNs, 0, EventRef(EventKind::Kernel, i), SliceCategory::Kernel);
    return builder.build();
}

bool isSound(const Lane& lane) {
    if (lane.busyNs.size() != lane.size() / Lane::busyStep + size_t{1}) return false;
    int64_t busyNs = 0;
    for (uint32_t i = 0; i < lane.size(); ++i) {
        if (i > 0 && lane.startNs[i] < lane.endNs(i - 1)) return false;
        if (lane.busyBefore(i) != busyNs) return false;
        busyNs += lane.endNs(i) - lane.startNs[i];
    }
    return lane.busyBefore(lane.size()) == busyNs;
}

}  // namespace

class tst_LaneBuilder : public QObject {
    Q_OBJECT

  private slots:
    void keepsEverySliceAndOverlapsNone() {
        std::mt19937 random(3);
        for (const Packing packing : {Packing::Compact, Packing::Nested}) {
            const std::vector<Interval> intervals = randomIntervals(random, 500);
            const std::vector<Lane> lanes = build(intervals, packing);
            std::vector<bool> isSeen(intervals.size());
            for (const Lane& lane : lanes) {
                QVERIFY(isSound(lane));
                for (uint32_t i = 0; i < lane.size(); ++i) {
                    const uint32_t row = lane.event[i].row();
                    QCOMPARE(lane.startNs[i], intervals[row].startNs);
                    QCOMPARE(lane.endNs(i), intervals[row].endNs);
                    QVERIFY(!isSeen[row]);
                    isSeen[row] = true;
                }
            }
            QVERIFY(std::all_of(isSeen.begin(), isSeen.end(), [](bool seen) { return seen; }));
        }
    }

    void usesNoMoreLanesThanOverlap() {
        std::mt19937 random(5);
        std::vector<Interval> intervals = randomIntervals(random, 300);
        // Points share the place of the interval that starts with them, which would falsify the count.
        std::erase_if(intervals, [](const Interval& i) { return i.startNs == i.endNs; });
        size_t deepest = 0;
        for (int64_t timeNs = 0; timeNs < 2100; ++timeNs)
            deepest = std::max<size_t>(deepest, static_cast<size_t>(std::count_if(
                                                    intervals.begin(), intervals.end(), [timeNs](const Interval& i) {
                                                        return i.startNs <= timeNs && timeNs < i.endNs;
                                                    })));
        QCOMPARE(build(intervals, Packing::Compact).size(), deepest);
    }

    void nestedSlicesAreBelowTheirParent() {
        std::mt19937 random(9);
        const std::vector<Interval> intervals = randomIntervals(random, 200);
        const std::vector<Lane> lanes = build(intervals, Packing::Nested);
        std::vector<size_t> laneOf(intervals.size());
        for (size_t lane = 0; lane < lanes.size(); ++lane)
            for (const EventRef event : lanes[lane].event) laneOf[event.row()] = lane;
        for (size_t outer = 0; outer < intervals.size(); ++outer)
            for (size_t inner = 0; inner < intervals.size(); ++inner) {
                const bool contains = intervals[outer].startNs < intervals[inner].startNs &&
                                      intervals[outer].endNs > intervals[inner].endNs;
                if (contains) QVERIFY(laneOf[inner] > laneOf[outer]);
            }
    }

    void unionCoversAllSlices() {
        std::mt19937 random(13);
        const std::vector<Interval> intervals = randomIntervals(random, 40);
        const std::vector<Lane> lanes = build(intervals, Packing::Compact);
        std::vector<const Lane*> all;
        for (const Lane& each : lanes) all.push_back(&each);
        const Lane lane = unionOf(all, 0);
        QVERIFY(isSound(lane));
        for (int64_t timeNs = 0; timeNs < 2100; ++timeNs) {
            const bool expected = std::any_of(intervals.begin(), intervals.end(), [timeNs](const Interval& i) {
                return i.startNs <= timeNs && timeNs < i.endNs;
            });
            bool found = false;
            for (uint32_t i = 0; i < lane.size(); ++i) found |= lane.startNs[i] <= timeNs && timeNs < lane.endNs(i);
            QCOMPARE(found, expected);
        }
    }

    void endBeforeStartIsClampedToStart() {
        const std::vector<Lane> lanes = build({{100, 40}}, Packing::Compact);
        QCOMPARE(lanes.size(), size_t{1});
        QCOMPARE(lanes[0].startNs[0], int64_t{100});
        QCOMPARE(lanes[0].endNs(0), int64_t{100});
    }

    void tooDeepOverlapIsSkippedAndReported() {
        LaneBuilder builder;
        for (uint32_t i = 0; i < LanePacker::maxLanes + 10; ++i)
            builder.add(i, 1000, 0, EventRef(EventKind::Kernel, i), SliceCategory::Kernel);
        QCOMPARE(builder.build().size(), size_t{LanePacker::maxLanes});
        QCOMPARE(builder.droppedCount(), 10u);
    }
};

LANESCOPE_TEST(tst_LaneBuilder, NoApplication)
#include "tst_LaneBuilder.moc"
