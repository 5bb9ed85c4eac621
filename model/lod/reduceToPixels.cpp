// SPDX-License-Identifier: Apache-2.0
#include "model/lod/reduceToPixels.h"

#include <algorithm>

#include "model/numbers/groups.h"
#include "model/trace/counterReadings.h"

namespace lanescope {

namespace {

/// Minimum grid steps per pixel; at most twice as many.
constexpr int64_t stepsPerPixel = 2;

/// Limit of slices decoded at once; beyond it single ones are looked up.
constexpr std::ptrdiff_t maxDecodedSlices = 1 << 16;
/// Limit of slices whose durations are summed directly, which is faster than a query of the lane.
constexpr uint32_t maxSummedSlices = 64;

/// Minimum opacity of a run of short slices.
constexpr float minCoverage = 1.0f / 1024;

/// Visits the pixels of one lane from left to right.
class PixelWalk {
  public:
    PixelWalk(const Lane& lane, const PixelGrid& grid)
        : grid_(grid),
          edges_(lane, grid.shift(), grid.edge(0), grid.edge(grid.pixelCount())),
          left_(edges_.at(grid.edge(0))) {
        result_.reserve(std::min(lane.size(), static_cast<uint32_t>(grid.pixelCount())));
    }

    std::vector<PixelSlice> walk() {
        for (int pixel = 0; pixel < grid_.pixelCount(); ++pixel) {
            const LaneEdge right = edges_.at(grid_.edge(pixel + 1));
            // In a corrupt file they may not ascend.
            const uint32_t count = right.slice - std::min(left_.slice, right.slice);
            if (count == 0 && left_.overhangNs > 0 && left_.slice > 0)
                extend(pixel, left_.slice - 1, right);
            else if (count > 0)
                begin(pixel, count, right);
            left_ = right;
        }
        finish();
        return std::move(result_);
    }

  private:
    /// Extends a slice that started further left into the pixel.
    void extend(int pixel, uint32_t slice, const LaneEdge& right) {
        const bool isGoingOn = !result_.empty() && current().sliceCount == 1 && current().firstSlice == slice;
        if (!isGoingOn) add(pixel, slice, 1, edges_.describe(slice));
        current().right = static_cast<float>(pixel + 1);
        busyNs_ = wrappingSum(busyNs_, wrappingDifference(right.busyNs, left_.busyNs));
    }

    void begin(int pixel, uint32_t count, const LaneEdge& right) {
        const int64_t fromNs = grid_.edge(pixel);
        add(pixel, left_.slice, count, edges_.widest(fromNs, grid_.edge(pixel + 1), left_, right));
        busyNs_ = wrappingSum(busyNs_, wrappingDifference(right.busyNs, left_.busyNs));
    }

    void add(int pixel, uint32_t slice, uint32_t count, const LaneEdges::Widest& widest) {
        finish();
        PixelSlice& added = result_.emplace_back();
        added.left = static_cast<float>(pixel);
        added.right = static_cast<float>(pixel + 1);
        added.firstSlice = slice;
        added.sliceCount = count;
        added.category = widest.category;
        added.name = widest.name;
        busyNs_ = 0;
    }

    PixelSlice& current() { return result_.back(); }

    /// Sets the coverage of the last rectangle, whose right edge is final now.
    void finish() {
        if (result_.empty()) return;
        const int64_t widthNs =
            grid_.edge(static_cast<int>(current().right)) - grid_.edge(static_cast<int>(current().left));
        const double share = static_cast<double>(busyNs_) / static_cast<double>(widthNs);
        current().coverage = std::clamp(static_cast<float>(share), minCoverage, 1.0f);
        busyNs_ = 0;
    }

    const PixelGrid& grid_;
    LaneEdges edges_;
    LaneEdge left_;
    int64_t busyNs_ = 0;  ///< Within the last rectangle.
    std::vector<PixelSlice> result_;
};

/// The slices to search for the first from a time on: a bucket of the finest tiles, not twenty places of the file.
struct Bucket {
    size_t low = 0, high = 0;

    Bucket(const Lane& lane, int64_t timeNs) : high(lane.size()) {
        if (lane.tiles->levels.empty()) return;
        const LaneTiles::Level& finest = lane.tiles->levels.front();
        const size_t edge = finest.edgeIndex(timeNs);
        low = finest.slice[edge];
        high = std::max<size_t>(low, finest.slice[std::min(edge + 1, finest.bucketCount())]);
    }
};

/// Returns true if the coarsest tiles, which are small, or the first slice prove that a slice starts within a range.
bool clearlyStartsWithin(const Lane& lane, TimeRange range) {
    if (lane.tiles->levels.empty())
        return lane.size() > 0 && lane.startNs[0] >= range.startNs && lane.startNs[0] < range.endNs;
    const LaneTiles::Level& coarsest = lane.tiles->levels.back();
    const int64_t bucketNs = int64_t{1} << coarsest.shift;
    if (range.durationNs() < bucketNs) return false;
    return coarsest.slice[coarsest.edgeIndex(range.startNs + bucketNs - 1)] <
           coarsest.slice[coarsest.edgeIndex(range.endNs)];
}

bool isEmptyWithin(const Lane& lane, TimeRange range) {
    if (clearlyStartsWithin(lane, range)) return false;
    // Only the last slice before the bucket can end in it. One that ends at the range's start is outside, unless empty.
    const Bucket bucket(lane, range.startNs);
    auto slice = static_cast<uint32_t>(bucket.low - (bucket.low > 0 ? 1 : 0));
    for (auto high = static_cast<uint32_t>(bucket.high); slice < high;) {
        const uint32_t middle = slice + (high - slice) / 2;
        lane.endNs(middle) < range.startNs ? slice = middle + 1 : high = middle;
    }
    while (slice < lane.size() && lane.startNs[slice] < range.startNs && lane.endNs(slice) <= range.startNs) ++slice;
    return slice >= lane.size() || lane.startNs[slice] >= range.endNs;
}

bool isEmptyWithin(const CounterSeries& counter, TimeRange range) {
    const CounterColumn values = counter.extremesIn(range);
    return !values.hasValue || (values.minimum == 0 && values.maximum == 0);
}

bool overlapsAny(const std::vector<TimeRange>& intervals, TimeRange range) {
    return std::ranges::any_of(intervals, [range](TimeRange stretch) { return stretch.overlaps(range); });
}

}  // namespace

PixelGrid::PixelGrid(TimeRange range, int pixelWidth) {
    const int64_t durationNs = range.durationNs();
    const int64_t wholeNs = durationNs / pixelWidth;
    const int64_t restNs = durationNs % pixelWidth;
    while (int64_t{stepsPerPixel} << (shift_ + 1) <= wholeNs) ++shift_;
    const int64_t step = int64_t{1} << shift_;
    const auto down = [step](int64_t timeNs) { return timeNs & -step; };

    edges_.reserve(static_cast<size_t>(pixelWidth) + 1);
    edges_.push_back(down(range.startNs));
    // The edge before rounding is exactly `timeNs + part / pixelWidth`.
    int64_t timeNs = range.startNs;
    int64_t part = 0;
    for (int pixel = 0; pixel < pixelWidth; ++pixel) {
        timeNs += wholeNs;
        part += restNs;
        if (part >= pixelWidth) {
            part -= pixelWidth;
            ++timeNs;
        }
        edges_.push_back(down(timeNs + (part > 0 ? 1 : 0) + step - 1));
    }
}

LaneEdges::LaneEdges(const Lane& lane, int gridShift, int64_t firstNs, int64_t lastNs)
    : lane_(lane), level_(lane.tiles->levelFor(gridShift)) {
    // Decodes everything that will be read.
    if (level_ == nullptr) {
        decodeSlices(firstNs, lastNs);
        return;
    }
    firstBucket_ = level_->edgeIndex(firstNs);
    longestNs_.resize(level_->edgeIndex(lastNs) - firstBucket_);
    level_->longestNs.copyTo(longestNs_, firstBucket_);
}

void LaneEdges::decodeSlices(int64_t firstNs, int64_t lastNs) {
    const auto begin = lane_.startNs.begin();
    const auto find = [&](int64_t timeNs) {
        const Bucket bucket(lane_, timeNs);
        return std::lower_bound(begin + static_cast<std::ptrdiff_t>(bucket.low),
                                begin + static_cast<std::ptrdiff_t>(bucket.high), timeNs);
    };
    const auto first = find(firstNs);
    const auto last = std::max(first, find(lastNs));
    slice_ = static_cast<uint32_t>(first - begin);
    busyNs_ = lane_.busyBefore(slice_);
    firstDecoded_ = slice_ - (slice_ > 0 ? 1 : 0);  // The previous slice may extend into the range.
    const std::ptrdiff_t count = last - begin - std::ptrdiff_t{firstDecoded_};
    if (count > maxDecodedSlices) return;
    startNs_.resize(static_cast<size_t>(count));
    durationNs_.resize(static_cast<size_t>(count));
    lane_.startNs.copyTo(startNs_, firstDecoded_);
    lane_.durationNs.copyTo(durationNs_, firstDecoded_);
}

void LaneEdges::moveTo(uint32_t slice) {
    if (slice - slice_ > maxSummedSlices)
        busyNs_ = lane_.busyBefore(slice);
    else
        for (uint32_t i = slice_; i < slice; ++i) busyNs_ = wrappingSum(busyNs_, durationNs(i));
    slice_ = slice;
}

LaneEdge LaneEdges::at(int64_t timeNs) {
    if (level_ != nullptr) return level_->at(timeNs);
    const uint32_t count = lane_.size();
    uint32_t step = 1;
    uint32_t low = slice_;
    uint32_t high = slice_;
    while (high < count && startNs(high) < timeNs) {
        low = high + 1;
        high = step < count - high ? high + step : count;
        step *= 2;
    }
    moveTo(firstNotBefore(low, high, [&](uint32_t slice) { return startNs(slice) < timeNs; }));
    if (slice_ == 0) return {};
    const uint32_t last = slice_ - 1;
    const int64_t overhangNs = std::max<int64_t>(0, startNs(last) + durationNs(last) - timeNs);
    return {slice_, wrappingDifference(busyNs_, overhangNs), overhangNs};
}

LaneEdges::Widest LaneEdges::describe(uint32_t slice) const { return {lane_.category[slice], lane_.name[slice]}; }

LaneEdges::Widest LaneEdges::widest(int64_t fromNs, int64_t toNs, const LaneEdge& from, const LaneEdge& to) {
    if (level_ == nullptr) {
        if (to.slice - from.slice > maxSummedSlices || !isDecoded(from.slice) || !isDecoded(to.slice - 1))
            return describe(longestSlice(lane_, from.slice, to.slice));
        const auto begin = durationNs_.begin();
        const auto longest = std::max_element(begin + (from.slice - firstDecoded_), begin + (to.slice - firstDecoded_));
        return describe(firstDecoded_ + static_cast<uint32_t>(longest - begin));
    }
    const size_t first = level_->edgeIndex(fromNs) - firstBucket_;
    const size_t end = level_->edgeIndex(toNs) - firstBucket_;
    // Branch-free, because the widest of the two to four is unpredictable.
    size_t widest = first;
    for (size_t i = first + 1; i < end; ++i) widest = longestNs_[i] > longestNs_[widest] ? i : widest;
    const size_t bucket = widest + firstBucket_;
    return {level_->category[bucket], level_->name[bucket]};
}

std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth) {
    if (lane.size() == 0 || range.isEmpty() || pixelWidth <= 0) return {};
    if (range.durationNs() >= pixelWidth) return reduceToPixels(lane, PixelGrid(range, pixelWidth));
    // Uses one pixel per nanosecond first, and widens the result.
    const auto nanoseconds = static_cast<int>(range.durationNs());
    std::vector<PixelSlice> result = reduceToPixels(lane, PixelGrid(range, nanoseconds));
    const auto widened = [&](float nanosecond) {
        return static_cast<float>(static_cast<int64_t>(nanosecond) * pixelWidth / nanoseconds);
    };
    for (PixelSlice& each : result) {
        each.left = widened(each.left);
        // Slices of zero duration are one pixel wide.
        each.right = each.coverage <= minCoverage ? each.left + 1 : widened(each.right);
    }
    return result;
}

std::vector<PixelSlice> reduceToPixels(const Lane& lane, const PixelGrid& grid) {
    return lane.size() == 0 ? std::vector<PixelSlice>() : PixelWalk(lane, grid).walk();
}

uint32_t widestOf(const Lane& lane, const PixelSlice& rectangle) {
    const uint32_t first = rectangle.firstSlice;
    return rectangle.sliceCount <= 1 ? first : longestSlice(lane, first, first + rectangle.sliceCount);
}

uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs) {
    const auto after = std::ranges::upper_bound(lane.startNs, timeNs);
    const auto next = static_cast<uint32_t>(after - lane.startNs.begin());
    uint32_t best = lane.size();
    int64_t bestDistanceNs = toleranceNs;
    if (next > 0) {
        const uint32_t previous = next - 1;
        if (lane.endNs(previous) > timeNs || lane.startNs[previous] == timeNs) return previous;
        const int64_t distanceNs = timeNs - lane.endNs(previous);
        if (toleranceNs > 0 && distanceNs <= bestDistanceNs) {
            best = previous;
            bestDistanceNs = distanceNs;
        }
    }
    if (next < lane.size() && lane.startNs[next] - timeNs <= bestDistanceNs &&
        (best == lane.size() || lane.startNs[next] - timeNs < bestDistanceNs))
        best = next;
    return best;
}

std::vector<bool> emptyTracks(const Trace& trace, TimeRange range) {
    std::vector<bool> isEmpty(trace.tracks.size(), true);
    const CounterPairs pairs = counterPairs(trace.counters);
    const auto isFlat = [&](uint32_t counter) {
        return counter == noIndex || isEmptyWithin(trace.counters[counter], range);
    };
    // Children follow their parents.
    for (size_t track = trace.tracks.size(); track-- > 0;) {
        const Track& each = trace.tracks[track];
        const bool hasOwn =
            each.kind == TrackKind::Counter
                ? !isFlat(each.subject) || !isFlat(pairs.lowerOf[each.subject])
                : !std::ranges::all_of(each.lanes, [range](const Lane& lane) { return isEmptyWithin(lane, range); });
        if (hasOwn || overlapsAny(each.unrecorded, range) || overlapsAny(each.lossy, range)) isEmpty[track] = false;
        if (!isEmpty[track] && each.parent >= 0) isEmpty[static_cast<size_t>(each.parent)] = false;
    }
    return isEmpty;
}

}  // namespace lanescope
