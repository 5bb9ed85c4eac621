// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/timeline/TrackLayout.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

Track track(int32_t parent, int laneCount, SliceCategory category = SliceCategory::Kernel) {
    Track result;
    result.parent = parent;
    for (int i = 0; i < laneCount; ++i) {
        Lane lane;
        lane.startNs = {0};
        lane.durationNs = {10};
        lane.name = {0};
        lane.event = {EventRef()};
        lane.category = {category};
        lane.busyNs = {0};
        result.lanes.push_back(lane);
    }
    return result;
}

std::vector<Track> machine() {
    std::vector<Track> tracks;
    tracks.push_back(track(-1, 1, SliceCategory::Busy));       // 0 GPU
    tracks.push_back(track(0, 1));                             // 1 stream
    tracks.push_back(track(1, 3, SliceCategory::Projection));  // 2 its ranges
    tracks.push_back(track(0, 2));                             // 3 stream
    tracks.push_back(track(-1, 1, SliceCategory::Busy));       // 4 process
    tracks.push_back(track(4, 1, SliceCategory::ApiLaunch));   // 5 thread
    return tracks;
}

}  // namespace

class tst_TrackLayout : public QObject {
    Q_OBJECT

  private slots:
    void rowsAreContiguous() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        QCOMPARE(layout.rows().size(), tracks.size());
        int top = 0;
        for (const LayoutRow& row : layout.rows()) {
            QCOMPARE(row.top, top);
            QVERIFY(row.height >= layout.metrics().headerHeight);
            QVERIFY(row.lanesTop >= layout.metrics().padding);
            QVERIFY(TrackLayout::laneTop(row, row.laneCount) <= row.bottom());
            top = row.bottom();
        }
        QCOMPARE(layout.totalHeight(), top + layout.metrics().bottomSpace);
    }

    void foldedGroupShowsNoChildren() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.setFolded(0, true);
        QVERIFY(!layout.rowOf(1) && !layout.rowOf(2) && !layout.rowOf(3));
        QCOMPARE(layout.rows().size(), 3u);
        QCOMPARE(layout.rowOf(0)->laneHeight, layout.metrics().laneHeight);
        QCOMPARE(layout.visibleRowOf(2)->track, 0u);
        layout.setFolded(0, false);
        QCOMPARE(layout.rows().size(), 6u);
    }

    void unfoldedGroupKeepsOnlyItsSummary() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        QVERIFY(layout.rowOf(0)->isHeader);
        QCOMPARE(layout.rowOf(0)->laneHeight, layout.metrics().summaryHeight);
        QCOMPARE(layout.rowOf(0)->height, layout.metrics().headerHeight);
    }

    void streamWithChildrenKeepsItsKernels() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        QVERIFY(!layout.rowOf(1)->isHeader);
        QCOMPARE(layout.rowOf(1)->laneHeight, layout.metrics().laneHeight);
        layout.setFolded(1, true);
        QCOMPARE(layout.rowOf(1)->laneHeight, layout.metrics().laneHeight);
        QVERIFY(!layout.rowOf(2));
    }

    void severalLanesCanBeSqueezed() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        QVERIFY(layout.canFold(3));
        QVERIFY(!layout.canFold(5));
        const int before = layout.rowOf(3)->height;
        layout.setFolded(3, true);
        QCOMPARE(layout.rowOf(3)->laneCount, 2);
        QCOMPARE(layout.rowOf(3)->laneHeight, layout.metrics().squeezedLaneHeight);
        QVERIFY(layout.rowOf(3)->height < before);
        layout.setFolded(5, true);
        QVERIFY(!layout.isFolded(5));
    }

    void revealUnfoldsAllAncestors() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.setAllFolded(true);
        QCOMPARE(layout.rows().size(), 2u);
        QVERIFY(layout.reveal(2));
        QVERIFY(layout.rowOf(2));
        QVERIFY(!layout.isFolded(0) && !layout.isFolded(1) && !layout.isFolded(2));
        QVERIFY(layout.isFolded(4));
        QVERIFY(!layout.reveal(2));
    }

    void queriesMatchPlainLoop() {
        std::mt19937 random(7);
        for (int round = 0; round < 50; ++round) {
            std::vector<Track> tracks;
            const int count = 1 + static_cast<int>(random() % 40);
            for (int i = 0; i < count; ++i) {
                const int32_t parent = i == 0 || random() % 3 == 0 ? -1 : static_cast<int32_t>(random() % i);
                tracks.push_back(track(parent, static_cast<int>(random() % 4),
                                       random() % 2 ? SliceCategory::Busy : SliceCategory::Kernel));
                tracks.back().isInitiallyFolded = random() % 4 == 0;
            }
            TrackLayout layout;
            layout.setTracks(tracks);
            for (int y = -5; y < layout.totalHeight() + 5; y += 3) {
                const LayoutRow* expected = nullptr;
                for (const LayoutRow& row : layout.rows()) {
                    if (y >= row.top && y < row.bottom()) expected = &row;
                }
                QCOMPARE(layout.rowAt(y), expected);
                std::optional<LanePosition> lane;
                for (int i = 0; expected && i < expected->laneCount; ++i) {
                    const int top = TrackLayout::laneTop(*expected, i);
                    if (y >= top && y < top + expected->laneHeight) {
                        lane = LanePosition{expected->track, static_cast<uint32_t>(i)};
                    }
                }
                QVERIFY(layout.laneAt(y) == lane);
                size_t touching = 0;
                for (const LayoutRow& row : layout.rows()) touching += row.bottom() > y && row.top < y + 70;
                QCOMPARE(layout.rowsBetween(y, y + 70).size(), touching);
            }
        }
    }

    void corruptParentsAreTopTracks() {
        std::vector<Track> tracks{track(0, 1), track(7, 1), track(-9, 1)};
        TrackLayout layout;
        layout.setTracks(tracks);
        QCOMPARE(layout.rows().size(), 3u);
        QVERIFY(!layout.canFold(0));
        QVERIFY(!layout.reveal(1));
    }

    void noTracksGiveAnEmptyLayout() {
        TrackLayout layout;
        QCOMPARE(layout.totalHeight(), 0);
        QVERIFY(!layout.rowAt(0));
        QVERIFY(!layout.laneAt(10));
        QVERIFY(!layout.rowOf(0));
        QVERIFY(!layout.visibleRowOf(3));
        QVERIFY(layout.rowsBetween(0, 100).empty());
    }
};

LANESCOPE_TEST(tst_TrackLayout, NoApplication)
#include "tst_TrackLayout.moc"
