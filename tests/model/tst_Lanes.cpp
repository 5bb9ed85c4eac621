// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/LaneBuilder.h"
#include "model/lod/reduceToPixels.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/SimulatedTrace.h"
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
        const int64_t startNs = timeNs + gap(random), endNs = startNs + length(random);
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
        const int64_t startNs = lane.startNs[i], endNs = lane.endNs(i);
        for (int p = 0; p < grid.pixelCount(); ++p) {
            const int64_t left = grid.edge(p), right = grid.edge(p + 1);
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
            const int64_t widestSliceNs = lane.durationNs[widest], durationNs = lane.endNs(i) - lane.startNs[i];
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

struct Projected {
    uint32_t nvtx;
    uint32_t stream;
    TimeRange range;
    uint32_t count;
    bool operator==(const Projected&) const = default;
    bool operator<(const Projected& other) const {
        return nvtx != other.nvtx ? nvtx < other.nvtx : stream < other.stream;
    }
};

/// By the rule itself: for each range and stream, test every kernel.
std::vector<Projected> plainProjections(const Trace& trace) {
    std::vector<Projected> result;
    for (uint32_t range = 0; range < trace.nvtx.size(); ++range) {
        if (trace.nvtx.style[range] == NvtxStyle::Mark) continue;
        const TimeRange time{trace.nvtx.startNs[range], trace.nvtx.endNs[range]};
        for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
            Projected found{range, stream, {INT64_MAX, INT64_MIN}, 0};
            for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
                if (trace.kernels.stream[row] != stream) continue;
                const EventRef call = trace.launchingCall(EventRef(EventKind::Kernel, row));
                if (!call.isValid()) continue;
                if (trace.apiCalls.thread[call.row()] != trace.nvtx.thread[range]) continue;
                if (!time.contains(trace.apiCalls.startNs[call.row()])) continue;
                found.range = found.range.united(trace.rangeOf(EventRef(EventKind::Kernel, row)));
                ++found.count;
            }
            if (found.count > 0) result.push_back(found);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Projected> projectionsOf(const Trace& trace) {
    std::vector<Projected> result;
    const ProjectionTable& table = trace.projections;
    for (uint32_t row = 0; row < table.size(); ++row)
        result.push_back(
            {table.nvtx[row], table.stream[row], {table.startNs[row], table.endNs[row]}, table.operationCount[row]});
    std::sort(result.begin(), result.end());
    return result;
}

constexpr int64_t spanNs = 1'000'000;

/// Scattered kernels, calls and ranges on several streams and threads, and copies for counters.
TracePtr randomTrace(std::mt19937& random) {
    SimulatedTrace builder;
    const uint32_t process = builder.addProcess(7, "training"), gpu = builder.addGpu();
    const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % limit); };
    for (int64_t stream = 0; stream < 5; ++stream) {
        const uint32_t added = builder.addStream(process, gpu, 7 + stream);
        int64_t timeNs = below(spanNs);
        for (int64_t count = below(4); count >= 0; --count) {
            builder.addKernel(added, "gemm", timeNs, timeNs + below(5'000));
            timeNs += 5'000 + below(spanNs / 2);
        }
    }
    for (uint32_t tid = 0; tid < 3; ++tid) {
        const uint32_t thread = builder.addThread(process, 8 + tid);
        const int64_t timeNs = below(spanNs);
        builder.addApi(thread, "cuLaunchKernel", timeNs, timeNs + below(9'000));
        builder.addNvtx(thread, "step", timeNs + 20'000, timeNs + 20'000 + below(300'000));
    }
    return builder.finish();
}

/// Returns true if no slice of the track or its children lies in the range, by testing all of them.
bool plainIsEmpty(const Trace& trace, size_t wanted, TimeRange range) {
    for (size_t track = wanted; track < trace.tracks.size(); ++track) {
        if (track > wanted && trace.tracks[track].depth <= trace.tracks[wanted].depth) break;
        for (const Lane& lane : trace.tracks[track].lanes)
            for (uint32_t slice = 0; slice < lane.size(); ++slice) {
                const int64_t startNs = lane.startNs[slice];
                const bool isBefore = startNs < range.startNs && lane.endNs(slice) <= range.startNs;
                if (!isBefore && startNs < range.endNs) return false;
            }
    }
    return true;
}

}  // namespace

class tst_Lanes : public QObject {
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
        QCOMPARE(test::listed(lanes[0].startNs[0], lanes[0].endNs(0)), "100 | 100");
    }

    void tooDeepOverlapIsSkippedAndReported() {
        LaneBuilder builder;
        for (uint32_t i = 0; i < LanePacker::maxLanes + 10; ++i)
            builder.add(i, 1000, 0, EventRef(EventKind::Kernel, i), SliceCategory::Kernel);
        QCOMPARE(builder.build().size(), size_t{LanePacker::maxLanes});
        QCOMPARE(builder.droppedCount(), 10u);
    }

    void reductionMatchesPlainLoop_data() {
        const test::Rows<int, qint64, qint64> row;
        row("dense", 2000, qint64{50}, qint64{3});
        row("abutting", 500, qint64{400}, qint64{0});
        row("points", 500, qint64{0}, qint64{100});
        row("sparse and tiny", 300, qint64{2}, qint64{100'000});
        row("wide", 40, qint64{1'000'000}, qint64{300'000});
        row("about a pixel", 400, qint64{1500}, qint64{500});
    }
    void reductionMatchesPlainLoop() {
        const auto [slices, maxSliceNs, maxGapNs] = test::row<int, qint64, qint64>();
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
            const int64_t firstNs = lane.startNs.front(), wholeNs = lane.endNs(lane.size() - 1) - firstNs;
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
        QCOMPARE(test::listed(pixels[0].left, pixels[0].right, pixels[0].coverage), test::listed(10.0f, 30.0f, 1.0f));
        QCOMPARE(test::listed(pixels[1].left, pixels[1].right), test::listed(40.0f, 41.0f));
    }

    void coverageIsTheBusyShare() {
        Lane lane;
        for (int64_t i = 0; i < 10; ++i) appendSlice(lane, i * 100, i * 100 + 25, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 1024}, 1);
        QCOMPARE(pixels.size(), size_t{1});
        QCOMPARE(test::listed(pixels[0].sliceCount, pixels[0].coverage), test::listed(10u, 250.0f / 1024));
        QCOMPARE(pixels[0].category, SliceCategory::Kernel);
    }

    void wideSliceIsDrawnFromEdgeToEdge() {
        Lane lane;
        appendSlice(lane, -500, 500, 0, EventRef(), SliceCategory::MemcpyHtoD);
        appendSlice(lane, 500, 2500, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, 1000}, 100);
        QCOMPARE(pixels.size(), size_t{2});
        QCOMPARE(test::listed(pixels[0].left, pixels[0].right), test::listed(0.0f, 50.0f));
        QCOMPARE(test::listed(pixels[0].category, pixels[1].left), test::listed(SliceCategory::MemcpyHtoD, 50.0f));
        QCOMPARE(test::listed(pixels[1].right, pixels[1].sliceCount), test::listed(100.0f, 1u));
    }

    void sliceOfOneNanosecondInADayIsMarked() {
        constexpr int64_t dayNs = int64_t{86'400} * 1'000'000'000;
        Lane lane;
        constexpr int64_t timeNs = dayNs / 2 + dayNs / 2000;  // the middle of a pixel
        appendSlice(lane, timeNs, timeNs + 1, 0, EventRef(), SliceCategory::Kernel);
        const std::vector<PixelSlice> pixels = reduceToPixels(lane, {0, dayNs}, 1000);
        QCOMPARE(pixels.size(), size_t{1});
        QCOMPARE(test::listed(pixels[0].left, pixels[0].right), test::listed(500.0f, 501.0f));
        QVERIFY(pixels[0].coverage > 0);
    }

    void emptyLaneDrawsNothing() {
        Lane lane;
        QVERIFY(reduceToPixels(lane, {0, 100}, 100).empty());
        appendSlice(lane, 0, 10, 0, EventRef(), SliceCategory::Kernel);
        QVERIFY(reduceToPixels(lane, {0, 100}, 0).empty() && reduceToPixels(lane, {50, 50}, 100).empty());
        QVERIFY(reduceToPixels(lane, {10, 100}, 100).empty());
    }

    void millionsOfSlicesAreFast() {
        Lane lane;
        constexpr int64_t count = 4'000'000;
        for (int64_t i = 0; i < count; ++i) appendSlice(lane, i * 3, i * 3 + 2, 0, EventRef(), SliceCategory::Kernel);
        test::CpuTimer timer;
        lane.tiles = buildLaneTiles(lane);
        timer.restart();
        for (int i = 0; i < 20; ++i) QCOMPARE(reduceToPixels(lane, {0, count * 3}, 2000).size(), size_t{2000});
        // A linear pass would take some hundred times as long, so the limit is far from both.
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }

    void sliceAtATimeIsFound_data() {
        test::rows<qint64>("toleranceNs", {{"exact", qint64{0}}, {"near", qint64{7}}, {"far", qint64{100'000}}});
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

    void projectionsMatchPlainLoop_data() {
        QTest::addColumn<uint>("seed");
        for (uint seed = 1; seed <= 12; ++seed) QTest::addRow("seed %u", seed) << seed;
    }
    void projectionsMatchPlainLoop() {
        QFETCH(uint, seed);
        std::mt19937 random(seed);
        const auto upTo = [&random](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); };
        SimulatedTrace builder;
        builder.addGpu();
        const uint32_t process = builder.addProcess(77, "other");
        for (uint32_t i = 0; i < 3; ++i) builder.addThread(i == 2 ? process : 0, 100 + i);
        for (uint32_t i = 0; i < 4; ++i) builder.addStream(i == 3 ? process : 0, 0, 7 + i);
        for (uint32_t i = 0; i < 150; ++i) {
            const uint32_t thread = static_cast<uint32_t>(upTo(2));
            const uint32_t stream = thread == 2 ? 3 : static_cast<uint32_t>(upTo(2));
            const int64_t callNs = upTo(10'000);
            // Several kernels may come from one call; some calls and kernels have no counterpart.
            const auto correlation = static_cast<uint32_t>(upTo(120));
            builder.addApi(thread, "cudaLaunchKernel", callNs, callNs + upTo(20), correlation);
            const int64_t startNs = callNs + upTo(3'000);
            builder.addKernel(stream, "kernel", startNs, startNs + upTo(500), static_cast<uint32_t>(upTo(120)));
        }
        for (uint32_t i = 0; i < 80; ++i) {
            const int64_t startNs = upTo(10'000);
            const NvtxStyle style = i % 3 == 0   ? NvtxStyle::StartEnd
                                    : i % 7 == 1 ? NvtxStyle::Mark
                                                 : NvtxStyle::PushPop;
            builder.addNvtx(static_cast<uint32_t>(upTo(2)), "range", startNs, startNs + upTo(4'000), style,
                            i % 5 == 0 ? "other domain" : "");
        }
        const TracePtr trace = builder.finish();
        const std::vector<Projected> expected = plainProjections(*trace);
        QVERIFY(!expected.empty());
        QVERIFY(projectionsOf(*trace) == expected);
    }

    void projectionSpansFirstStartToLastEnd() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.launch(thread, stream, "before", 0, 10'000, 20'000);
        builder.launch(thread, stream, "first", 100'000, 120'000, 130'000);
        builder.launch(thread, stream, "second", 110'000, 140'000, 150'000);
        builder.addNvtx(thread, "step", 90'000, 118'000);
        const TracePtr trace = builder.finish();
        QCOMPARE(test::listed(trace->projections.startNs, trace->projections.endNs), "120000 | 150000");
        QCOMPARE(trace->projections.operationCount[0], 2u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("step"));
    }

    void projectionsBelongToTheLaunchingThread() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread(), other = builder.addThread(0, 99);
        builder.launch(other, builder.defaultStream(), "kernel", 100, 10'000, 20'000);
        builder.addNvtx(main, "main", 0, 1'000);
        builder.addNvtx(other, "other", 0, 1'000);
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->projections.size(), 1u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("other"));
    }

    void projectionsAreSortedAndNested() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.launch(thread, stream, "kernel", 200, 10'000, 20'000);
        builder.addNvtx(thread, "outer", 0, 1'000);
        builder.addNvtx(thread, "inner", 100, 900);
        const TracePtr trace = builder.finish();
        // Both contain the same kernel; the outer range on the CPU is shown above.
        QCOMPARE(trace->projections.size(), 2u);
        QCOMPARE(trace->nameOf(EventRef(EventKind::Projection, 0)), std::string("outer"));
        QCOMPARE(test::listed(trace->projections.depth[0], trace->projections.depth[1]), "0 | 1");
    }

    void emptyTracksMatchPlainLoop() {
        std::mt19937 random(3);
        int emptyCount = 0;
        for (int round = 0; round < 200; ++round) {
            const TracePtr trace = randomTrace(random);
            const auto startNs = static_cast<int64_t>(random() % spanNs);
            const TimeRange range{startNs, startNs + 1 + static_cast<int64_t>(random() % 200'000)};
            const std::vector<bool> isEmpty = emptyTracks(*trace, range);
            QCOMPARE(isEmpty.size(), trace->tracks.size());
            for (size_t track = 0; track < isEmpty.size(); ++track) {
                QCOMPARE(isEmpty[track], plainIsEmpty(*trace, track, range));
                emptyCount += isEmpty[track];
            }
        }
        QVERIFY(emptyCount > 100);
    }

    void counterIsEmptyWhereZeroOrUnknown() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 100'000);
        CounterSeries counter;
        counter.name = "Power";
        counter.key = "power";
        counter.source = "nvml";
        counter.gpu = 0;
        counter.set({10'000, 20'000, 30'000}, {0, 5, 0}, 40'000);
        builder.counter(std::move(counter));
        const TracePtr trace = builder.finish();
        const auto found = std::ranges::find(trace->tracks, TrackKind::Counter, &Track::kind);
        QVERIFY(found != trace->tracks.end());
        const auto track = static_cast<size_t>(found - trace->tracks.begin());
        QVERIFY(emptyTracks(*trace, {0, 10'000})[track] && emptyTracks(*trace, {10'000, 20'000})[track]);
        QVERIFY(!emptyTracks(*trace, {15'000, 21'000})[track] && emptyTracks(*trace, {30'000, 90'000})[track]);
    }

    void unrecordedTimeIsShown() {
        const TimeRange between{40'000, 50'000};
        for (const bool hasWindows : {false, true}) {
            SimulatedTrace builder;
            builder.addKernel(builder.defaultStream(), "gemm", 10'000, 20'000);
            builder.addKernel(builder.defaultStream(), "gemm", 100'000, 110'000);
            if (hasWindows) {
                builder.addWindow(0, 5'000, 30'000);
                builder.addWindow(0, 90'000, 120'000);
            }
            const TracePtr trace = builder.finish();
            const std::vector<bool> isEmpty = emptyTracks(*trace, between);
            int markedCount = 0;
            for (size_t track = 0; track < trace->tracks.size(); ++track) {
                markedCount += trace->tracks[track].unrecorded->empty() ? 0 : 1;
                QCOMPARE(isEmpty[track], !hasWindows);
            }
            QCOMPARE(markedCount > 0, hasWindows);
        }
    }
};

LANESCOPE_TEST(tst_Lanes, NoApplication)
#include "tst_Lanes.moc"
