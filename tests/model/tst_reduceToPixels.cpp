// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/LaneBuilder.h"
#include "model/lod/reduceToPixels.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct LaneShape {
    int slices;
    int64_t maxSliceNs;
    int64_t maxGapNs;
};

Lane randomLane(std::mt19937& random, const LaneShape& shape) {
    Lane lane;
    std::uniform_int_distribution<int64_t> length(0, shape.maxSliceNs);
    std::uniform_int_distribution<int64_t> gap(0, shape.maxGapNs);
    int64_t timeNs = -shape.maxGapNs;
    for (int i = 0; i < shape.slices; ++i) {
        const int64_t startNs = timeNs + gap(random);
        const int64_t endNs = startNs + length(random);
        appendSlice(lane, startNs, endNs, 0, EventRef(EventKind::Kernel, static_cast<uint32_t>(i)),
                    SliceCategory::Kernel);
        timeNs = endNs;
    }
    return lane;
}

/// Bursts of short slices, including points, with long slices and huge gaps between.
Lane burstyLane(std::mt19937& random, int slices) {
    Lane lane;
    int64_t timeNs = -1'000'000'007;
    for (int i = 0; i < slices; ++i) {
        const uint32_t dice = static_cast<uint32_t>(random()) % 1000;
        int64_t gapNs = dice % 3;
        if (dice > 980) gapNs = static_cast<int64_t>(random() % 5'000'000);
        if (dice == 500) gapNs = 20'000'000'000;
        int64_t durationNs = static_cast<int64_t>(random() % 40);
        if (dice < 15) durationNs = static_cast<int64_t>(random() % 3'000'000);
        timeNs += gapNs;
        appendSlice(lane, timeNs, timeNs + durationNs, static_cast<StringIndex>(i % 13),
                    EventRef(EventKind::Kernel, static_cast<uint32_t>(i)),
                    i % 5 == 0 ? SliceCategory::NcclKernel : SliceCategory::Kernel);
        timeNs += durationNs;
    }
    return lane;
}

/// Content of each pixel, by testing every slice.
struct PlainPixel {
    std::vector<uint32_t> inside;    ///< Slices with a part in the pixel.
    std::vector<uint32_t> starting;  ///< Slices that start in the pixel.
    int64_t busyNs = 0;
};

std::vector<PlainPixel> plainPixels(const Lane& lane, const PixelGrid& grid) {
    std::vector<PlainPixel> pixels(static_cast<size_t>(grid.pixelCount()));
    for (uint32_t i = 0; i < lane.size(); ++i) {
        const int64_t startNs = lane.startNs[i];
        const int64_t endNs = lane.endNs(i);
        for (int p = 0; p < grid.pixelCount(); ++p) {
            const int64_t left = grid.edge(p);
            const int64_t right = grid.edge(p + 1);
            if (endNs < grid.edge(0)) break;
            if (startNs >= right) continue;
            if (endNs <= left && (startNs < endNs || startNs < left)) break;
            PlainPixel& pixel = pixels[static_cast<size_t>(p)];
            pixel.inside.push_back(i);
            if (startNs >= left) pixel.starting.push_back(i);
            pixel.busyNs += std::min(right, endNs) - std::max(left, startNs);
        }
    }
    return pixels;
}

/// Empty if the picture satisfies the contract of `reduceToPixels`, else the violation.
QString faultOf(const Lane& lane, TimeRange range, int width) {
    const PixelGrid grid(range, width);
    const std::vector<PlainPixel> plain = plainPixels(lane, grid);
    const std::vector<PixelSlice> found = reduceToPixels(lane, range, width);
    std::vector<const PixelSlice*> at(plain.size());
    float right = 0;
    for (const PixelSlice& each : found) {
        if (each.left < right || each.right < each.left + 1) return "rectangles overlap";
        right = each.right;
        if (right > static_cast<float>(width)) return "a rectangle lies outside";
        for (float p = each.left; p < each.right; ++p) at[static_cast<size_t>(p)] = &each;
        const int64_t fromNs = grid.edge(static_cast<int>(each.left));
        const int64_t toNs = grid.edge(static_cast<int>(each.right));
        int64_t busyNs = 0;
        for (float p = each.left; p < each.right; ++p) busyNs += plain[static_cast<size_t>(p)].busyNs;
        const auto share = static_cast<float>(static_cast<double>(busyNs) / static_cast<double>(toNs - fromNs));
        if (each.coverage != std::max(share, 1.0f / 1024)) return "the busy share is wrong";
        const uint32_t widest = widestOf(lane, each);
        if (each.category != lane.category[widest] || each.name != lane.name[widest])
            return "it is named after another";
    }
    for (size_t p = 0; p < plain.size(); ++p) {
        const PlainPixel& pixel = plain[p];
        if (pixel.inside.empty() != (at[p] == nullptr)) return QString("pixel %1").arg(p);
        if (pixel.inside.empty()) continue;
        const PixelSlice& each = *at[p];
        if (pixel.starting.size() < 2) {
            const uint32_t slice = pixel.starting.empty() ? pixel.inside.front() : pixel.starting.front();
            if (each.sliceCount != 1 || each.firstSlice != slice || widestOf(lane, each) != slice)
                return QString("the single slice of pixel %1").arg(p);
            continue;
        }
        if (each.right != each.left + 1 || each.firstSlice != pixel.starting.front() ||
            each.sliceCount != pixel.starting.size())
            return QString("the run of pixel %1").arg(p);
        const uint32_t widest = widestOf(lane, each);
        for (const uint32_t i : pixel.starting) {
            const int64_t widestSliceNs = lane.durationNs[widest];
            const int64_t durationNs = lane.endNs(i) - lane.startNs[i];
            if (durationNs > widestSliceNs || (durationNs == widestSliceNs && i < widest))
                return QString("the widest of pixel %1").arg(p);
        }
    }
    return {};
}

/// The slice at or nearest to a time, by testing every slice.
uint32_t plainSliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs) {
    uint32_t best = lane.size();
    int64_t bestNs = toleranceNs + 1;
    for (uint32_t i = 0; i < lane.size(); ++i) {
        if (lane.startNs[i] <= timeNs && (lane.endNs(i) > timeNs || lane.startNs[i] == timeNs))
            best = i, bestNs = -1;
        else if (lane.endNs(i) <= timeNs && timeNs - lane.endNs(i) <= bestNs && toleranceNs > 0 &&
                 timeNs - lane.endNs(i) <= toleranceNs)
            best = i, bestNs = timeNs - lane.endNs(i);
        else if (lane.startNs[i] > timeNs && lane.startNs[i] - timeNs < bestNs)
            best = i, bestNs = lane.startNs[i] - timeNs;
    }
    return best;
}

}  // namespace

class tst_reduceToPixels : public QObject {
    Q_OBJECT

  private slots:
    void reductionMatchesPlainLoop_data() {
        QTest::addColumn<int>("slices");
        QTest::addColumn<qint64>("maxSliceNs");
        QTest::addColumn<qint64>("maxGapNs");
        QTest::newRow("dense") << 2000 << qint64{50} << qint64{3};
        QTest::newRow("abutting") << 500 << qint64{400} << qint64{0};
        QTest::newRow("points") << 500 << qint64{0} << qint64{100};
        QTest::newRow("sparse and tiny") << 300 << qint64{2} << qint64{100'000};
        QTest::newRow("wide") << 40 << qint64{1'000'000} << qint64{300'000};
        QTest::newRow("about a pixel") << 400 << qint64{1500} << qint64{500};
    }
    void reductionMatchesPlainLoop() {
        QFETCH(int, slices);
        QFETCH(qint64, maxSliceNs);
        QFETCH(qint64, maxGapNs);
        std::mt19937 random(7);
        for (int round = 0; round < 60; ++round) {
            const Lane lane = randomLane(random, {slices, maxSliceNs, maxGapNs});
            const int64_t lastNs = lane.endNs(lane.size() - 1) + 2;
            std::uniform_int_distribution<int64_t> time(lane.startNs.front() - 5, lastNs);
            TimeRange range{time(random), time(random)};
            if (range.startNs > range.endNs) std::swap(range.startNs, range.endNs);
            if (range.isEmpty()) continue;
            const int64_t widest = std::min<int64_t>(400, range.durationNs());
            const auto width = static_cast<int>(std::uniform_int_distribution<int64_t>(1, widest)(random));
            const QString fault = faultOf(lane, range, width);
            QVERIFY2(fault.isEmpty(), qPrintable(fault));
        }
    }

    void reductionWithTilesMatchesPlainLoop() {
        std::mt19937 random(17);
        for (int round = 0; round < 12; ++round) {
            Lane lane = burstyLane(random, 5000 + round * 500);
            lane.tiles = buildLaneTiles(lane);
            QVERIFY(!lane.tiles->levels.empty());
            const int64_t firstNs = lane.startNs.front();
            const int64_t wholeNs = lane.endNs(lane.size() - 1) - firstNs;
            for (int zoom = 0; zoom < 20; ++zoom) {
                const int64_t durationNs = std::max<int64_t>(300, wholeNs >> zoom);
                const int64_t startNs =
                    firstNs - durationNs / 4 + std::uniform_int_distribution<int64_t>(0, wholeNs)(random);
                const QString fault = faultOf(lane, {startNs, startNs + durationNs}, 300);
                QVERIFY2(fault.isEmpty(), qPrintable(QString("zoom %1: %2").arg(zoom).arg(fault)));
            }
            const QString fault = faultOf(lane, {firstNs, firstNs + wholeNs + 1}, 1000);
            QVERIFY2(fault.isEmpty(), qPrintable(fault));
        }
    }

    void extremeTimesAreHarmless() {
        Lane lane;
        constexpr int64_t farNs = int64_t{1} << 61;
        appendSlice(lane, -farNs, -farNs + 5, 1, EventRef(), SliceCategory::Kernel);
        for (int64_t i = 0; i < 5000; ++i)
            appendSlice(lane, i * 10, i * 10 + i % 7, 2, EventRef(), SliceCategory::Kernel);
        appendSlice(lane, farNs - 1, farNs, 3, EventRef(), SliceCategory::Kernel);
        lane.tiles = buildLaneTiles(lane);
        for (const TimeRange range :
             {TimeRange{-farNs, farNs}, TimeRange{-5, 60'000}, TimeRange{farNs - 1000, farNs}}) {
            const QString fault = faultOf(lane, range, 500);
            QVERIFY2(fault.isEmpty(), qPrintable(fault));
        }
    }

    void unsortedTilesGiveOnlyExistingSlices() {
        std::mt19937 random(29);
        Lane lane = burstyLane(random, 20'000);
        lane.tiles = buildLaneTiles(lane);
        // Content of a corrupt index.
        for (LaneTiles::Level& level : lane.tiles.edit().levels)
            for (size_t edge = 0; edge < level.slice.size(); ++edge) {
                level.slice.set(edge, edge % 3 == 0 ? 0 : static_cast<uint32_t>(random()) % lane.size());
                level.overhangNs.set(edge, 1);
            }
        const TimeRange whole{lane.startNs.front(), lane.endNs(lane.size() - 1)};
        for (const int width : {10, 100, 1000})
            for (const PixelSlice& each : reduceToPixels(lane, whole, width)) {
                QVERIFY(each.sliceCount > 0 && each.sliceCount <= lane.size());
                QVERIFY(each.firstSlice <= lane.size() - each.sliceCount);
            }
    }

    void widestSliceOfARunIsFound() {
        std::mt19937 random(23);
        Lane lane = burstyLane(random, 30'000);
        for (const bool hasTiles : {false, true}) {
            if (hasTiles) lane.tiles = buildLaneTiles(lane);
            for (int round = 0; round < 200; ++round) {
                uint32_t first = static_cast<uint32_t>(random()) % lane.size();
                uint32_t end = static_cast<uint32_t>(random()) % lane.size();
                if (first > end) std::swap(first, end);
                if (first == end) continue;
                uint32_t longest = first;
                for (uint32_t i = first; i < end; ++i)
                    if (lane.endNs(i) - lane.startNs[i] > lane.endNs(longest) - lane.startNs[longest]) longest = i;
                QCOMPARE(longestSlice(lane, first, end), longest);
            }
        }
    }

    void pixelsShareANanosecond() {
        Lane lane;
        appendSlice(lane, 1, 3, 0, EventRef(), SliceCategory::Kernel);
        appendSlice(lane, 4, 4, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 5}, 50);
        QCOMPARE(pixels.size(), size_t{2});
        QCOMPARE(pixels[0].left, 10.0f);
        QCOMPARE(pixels[0].right, 30.0f);
        QCOMPARE(pixels[0].coverage, 1.0f);
        QCOMPARE(pixels[1].left, 40.0f);
        QCOMPARE(pixels[1].right, 41.0f);
    }

    void coverageIsTheBusyShare() {
        Lane lane;
        for (int64_t i = 0; i < 10; ++i) appendSlice(lane, i * 100, i * 100 + 25, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 1024}, 1);
        QCOMPARE(pixels.size(), size_t{1});
        QCOMPARE(pixels[0].sliceCount, 10u);
        QCOMPARE(pixels[0].coverage, 250.0f / 1024);
        QCOMPARE(pixels[0].category, SliceCategory::Kernel);
    }

    void wideSliceIsDrawnFromEdgeToEdge() {
        Lane lane;
        appendSlice(lane, -500, 500, 0, EventRef(), SliceCategory::MemcpyHtoD);
        appendSlice(lane, 500, 2500, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 1000}, 100);
        QCOMPARE(pixels.size(), size_t{2});
        QCOMPARE(pixels[0].left, 0.0f);
        QCOMPARE(pixels[0].right, 50.0f);
        QCOMPARE(pixels[0].category, SliceCategory::MemcpyHtoD);
        QCOMPARE(pixels[1].left, 50.0f);
        QCOMPARE(pixels[1].right, 100.0f);
        QCOMPARE(pixels[1].sliceCount, 1u);
    }

    void sliceOfOneNanosecondInADayIsMarked() {
        constexpr int64_t dayNs = int64_t{86'400} * 1'000'000'000;
        Lane lane;
        constexpr int64_t timeNs = dayNs / 2 + dayNs / 2000;  // the middle of a pixel
        appendSlice(lane, timeNs, timeNs + 1, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, dayNs}, 1000);
        QCOMPARE(pixels.size(), size_t{1});
        QCOMPARE(pixels[0].left, 500.0f);
        QCOMPARE(pixels[0].right, 501.0f);
        QVERIFY(pixels[0].coverage > 0);
    }

    void emptyLaneDrawsNothing() {
        Lane lane;
        QVERIFY(reduceToPixels(lane, {0, 100}, 100).empty());
        appendSlice(lane, 0, 10, 0, EventRef(), SliceCategory::Kernel);
        QVERIFY(reduceToPixels(lane, {0, 100}, 0).empty());
        QVERIFY(reduceToPixels(lane, {50, 50}, 100).empty());
        QVERIFY(reduceToPixels(lane, {10, 100}, 100).empty());
    }

    void millionsOfSlicesAreFast() {
        Lane lane;
        constexpr int64_t count = 4'000'000;
        for (int64_t i = 0; i < count; ++i) appendSlice(lane, i * 3, i * 3 + 2, 0, EventRef(), SliceCategory::Kernel);
        QElapsedTimer timer;
        timer.start();
        lane.tiles = buildLaneTiles(lane);
        timer.start();
        for (int i = 0; i < 20; ++i) QCOMPARE(reduceToPixels(lane, {0, count * 3}, 2000).size(), size_t{2000});
        // A linear pass would take some hundred times as long, so the limit is far from both.
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }

    void sliceAtATimeIsFound_data() {
        QTest::addColumn<qint64>("toleranceNs");
        QTest::newRow("exact") << qint64{0};
        QTest::newRow("near") << qint64{7};
        QTest::newRow("far") << qint64{100'000};
    }
    void sliceAtATimeIsFound() {
        QFETCH(qint64, toleranceNs);
        std::mt19937 random(11);
        for (int round = 0; round < 40; ++round) {
            const Lane lane = randomLane(random, {60, round % 2 == 0 ? 0 : 30, 25});
            for (int64_t timeNs = lane.startNs.front() - 20; timeNs < lane.endNs(lane.size() - 1) + 20; ++timeNs) {
                const uint32_t found = sliceAt(lane, timeNs, toleranceNs);
                const uint32_t expected = plainSliceAt(lane, timeNs, toleranceNs);
                // Slices of no length may share a place; any of them is correct.
                if (found < lane.size() && expected < lane.size())
                    QVERIFY(found == expected || lane.endNs(found) == lane.endNs(expected) ||
                            lane.startNs[found] == lane.startNs[expected]);
                else
                    QCOMPARE(found, expected);
            }
        }
    }
};

LANESCOPE_TEST(tst_reduceToPixels, NoApplication)
#include "tst_reduceToPixels.moc"
