#include <QtTest>

#include <cmath>
#include <random>

#include "model/reduce/reduceToPixels.h"
#include "model/trace/LaneBuilder.h"

using namespace lanescope;

namespace {

struct LaneShape {
    int slices;
    int64_t longestSliceNs;
    int64_t longestGapNs;
};

Lane randomLane(std::mt19937& random, const LaneShape& shape) {
    Lane lane;
    std::uniform_int_distribution<int64_t> length(0, shape.longestSliceNs);
    std::uniform_int_distribution<int64_t> gap(0, shape.longestGapNs);
    int64_t timeNs = -shape.longestGapNs;
    for (int i = 0; i < shape.slices; ++i) {
        const int64_t startNs = timeNs + gap(random);
        const int64_t endNs = startNs + length(random);
        appendSlice(lane, startNs, endNs, 0, EventRef(EventKind::Kernel, static_cast<uint32_t>(i)),
                    SliceCategory::Kernel);
        timeNs = endNs;
    }
    return lane;
}

bool isVisible(const Lane& lane, uint32_t slice, TimeRange range) {
    const int64_t startNs = lane.startNs[slice];
    const int64_t endNs = lane.endNs[slice];
    if (startNs == endNs) return range.contains(startNs);
    return startNs < range.endNs && endNs > range.startNs;
}

int pixelOf(int64_t timeNs, TimeRange range, int width) {
    if (timeNs <= range.startNs) return 0;
    return static_cast<int>(std::floor(static_cast<double>(timeNs - range.startNs) *
                                       (width / static_cast<double>(range.durationNs()))));
}

/// The slice at or nearest to a time, looking at every slice.
uint32_t plainSliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs) {
    uint32_t best = lane.size();
    int64_t bestNs = toleranceNs + 1;
    for (uint32_t i = 0; i < lane.size(); ++i) {
        if (lane.startNs[i] <= timeNs && (lane.endNs[i] > timeNs || lane.startNs[i] == timeNs))
            best = i, bestNs = -1;
        else if (lane.endNs[i] <= timeNs && timeNs - lane.endNs[i] <= bestNs && toleranceNs > 0 &&
                 timeNs - lane.endNs[i] <= toleranceNs)
            best = i, bestNs = timeNs - lane.endNs[i];
        else if (lane.startNs[i] > timeNs && lane.startNs[i] - timeNs < bestNs)
            best = i, bestNs = lane.startNs[i] - timeNs;
    }
    return best;
}

}  // namespace

class tst_reduceToPixels : public QObject {
    Q_OBJECT

  private slots:
    void marksEverySliceOnceWithoutOverlap_data();
    void marksEverySliceOnceWithoutOverlap();
    void coverageIsTheBusyShare();
    void drawsAWideSliceFromEdgeToEdge();
    void marksASliceOfOneNanosecondInADay();
    void drawsNothingForNothing();
    void staysQuickForMillionsOfSlices();
    void findsTheSliceUnderATime_data();
    void findsTheSliceUnderATime();
};

void tst_reduceToPixels::marksEverySliceOnceWithoutOverlap_data() {
    QTest::addColumn<int>("slices");
    QTest::addColumn<qint64>("longestSliceNs");
    QTest::addColumn<qint64>("longestGapNs");
    QTest::newRow("dense") << 2000 << qint64{50} << qint64{3};
    QTest::newRow("abutting") << 500 << qint64{400} << qint64{0};
    QTest::newRow("points") << 500 << qint64{0} << qint64{100};
    QTest::newRow("sparse and tiny") << 300 << qint64{2} << qint64{100'000};
    QTest::newRow("wide") << 40 << qint64{1'000'000} << qint64{300'000};
    QTest::newRow("about a pixel") << 400 << qint64{1500} << qint64{500};
}

void tst_reduceToPixels::marksEverySliceOnceWithoutOverlap() {
    QFETCH(int, slices);
    QFETCH(qint64, longestSliceNs);
    QFETCH(qint64, longestGapNs);
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const Lane lane = randomLane(random, {slices, longestSliceNs, longestGapNs});
        const int64_t lastNs = lane.endNs.back() + 2;
        std::uniform_int_distribution<int64_t> time(lane.startNs.front() - 5, lastNs);
        TimeRange range{time(random), time(random)};
        if (range.startNs > range.endNs) std::swap(range.startNs, range.endNs);
        if (range.isEmpty()) continue;
        const int width = std::uniform_int_distribution(1, 1500)(random);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, range, width);

        QVERIFY(pixels.size() <= static_cast<size_t>(2 * width));
        float right = 0;
        uint32_t next = 0;
        while (next < lane.size() && !isVisible(lane, next, range)) ++next;
        for (const PixelSlice& pixel : pixels) {
            QVERIFY(pixel.left >= right);
            QVERIFY(pixel.right >= pixel.left + 1);
            QVERIFY(pixel.right <= static_cast<float>(width));
            QVERIFY(pixel.coverage > 0 && pixel.coverage <= 1);
            QCOMPARE(pixel.firstSlice, next);  // none left out between rectangles
            right = pixel.right;
            next = pixel.firstSlice + pixel.sliceCount;
        }
        // None left out at the end, and each one's first pixel lies in the rectangle that holds it
        // or right before it, if others stand in that pixel.
        for (; next < lane.size(); ++next) QVERIFY(!isVisible(lane, next, range));
        for (const PixelSlice& pixel : pixels)
            for (uint32_t i = pixel.firstSlice; i < pixel.firstSlice + pixel.sliceCount; ++i) {
                const int at = pixelOf(lane.startNs[i], range, width);
                QVERIFY(static_cast<float>(at + 1) >= pixel.left);
                QVERIFY(static_cast<float>(at) < pixel.right);
            }
    }
}

void tst_reduceToPixels::coverageIsTheBusyShare() {
    Lane lane;
    for (int64_t i = 0; i < 10; ++i)
        appendSlice(lane, i * 100, i * 100 + 25, 0, EventRef(), SliceCategory::Kernel);
    const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 1000}, 1);
    QCOMPARE(pixels.size(), size_t{1});
    QCOMPARE(pixels[0].sliceCount, 10u);
    QCOMPARE(pixels[0].coverage, 0.25f);
    QCOMPARE(pixels[0].category, SliceCategory::Kernel);
}

void tst_reduceToPixels::drawsAWideSliceFromEdgeToEdge() {
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

void tst_reduceToPixels::marksASliceOfOneNanosecondInADay() {
    constexpr int64_t dayNs = int64_t{86'400} * 1'000'000'000;
    Lane lane;
    appendSlice(lane, dayNs / 2, dayNs / 2 + 1, 0, EventRef(), SliceCategory::Kernel);
    const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, dayNs}, 1000);
    QCOMPARE(pixels.size(), size_t{1});
    QCOMPARE(pixels[0].left, 500.0f);
    QCOMPARE(pixels[0].right, 501.0f);
    QVERIFY(pixels[0].coverage > 0);
}

void tst_reduceToPixels::drawsNothingForNothing() {
    Lane lane;
    QVERIFY(reduceToPixels(lane, {0, 100}, 100).empty());
    appendSlice(lane, 0, 10, 0, EventRef(), SliceCategory::Kernel);
    QVERIFY(reduceToPixels(lane, {0, 100}, 0).empty());
    QVERIFY(reduceToPixels(lane, {50, 50}, 100).empty());
    QVERIFY(reduceToPixels(lane, {10, 100}, 100).empty());
}

void tst_reduceToPixels::staysQuickForMillionsOfSlices() {
    Lane lane;
    constexpr int64_t count = 4'000'000;
    for (int64_t i = 0; i < count; ++i)
        appendSlice(lane, i * 3, i * 3 + 2, 0, EventRef(), SliceCategory::Kernel);
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < 20; ++i)
        QCOMPARE(reduceToPixels(lane, {0, count * 3}, 2000).size(), size_t{2000});
    // A linear pass would take some hundred times as long, so the limit is far from both.
    QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
}

void tst_reduceToPixels::findsTheSliceUnderATime_data() {
    QTest::addColumn<qint64>("toleranceNs");
    QTest::newRow("exact") << qint64{0};
    QTest::newRow("near") << qint64{7};
    QTest::newRow("far") << qint64{100'000};
}

void tst_reduceToPixels::findsTheSliceUnderATime() {
    QFETCH(qint64, toleranceNs);
    std::mt19937 random(11);
    for (int round = 0; round < 40; ++round) {
        const Lane lane = randomLane(random, {60, round % 2 == 0 ? 0 : 30, 25});
        for (int64_t timeNs = lane.startNs.front() - 20; timeNs < lane.endNs.back() + 20;
             ++timeNs) {
            const uint32_t found = sliceAt(lane, timeNs, toleranceNs);
            const uint32_t expected = plainSliceAt(lane, timeNs, toleranceNs);
            // Slices of no length may share a place; any of them is right.
            if (found < lane.size() && expected < lane.size())
                QVERIFY(found == expected || lane.endNs[found] == lane.endNs[expected] ||
                        lane.startNs[found] == lane.startNs[expected]);
            else
                QCOMPARE(found, expected);
        }
    }
}

QTEST_APPLESS_MAIN(tst_reduceToPixels)
#include "tst_reduceToPixels.moc"
