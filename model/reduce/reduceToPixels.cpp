#include "model/reduce/reduceToPixels.h"

#include <algorithm>
#include <cmath>

namespace lanescope {

namespace {

/// Drawn at least this strongly, however short the slices of a run are.
constexpr float minimumCoverage = 1.0f / 1024;
/// Slices of a run looked at for its colour.
constexpr uint32_t maximumLooks = 16;

/// Turns times of one range into pixels. Pixels are found from times only, never the other way
/// round, so that rounding cannot put one slice into two pixels.
class PixelScale {
  public:
    PixelScale(TimeRange range, int pixelWidth)
        : range_(range),
          pixelWidth_(pixelWidth),
          pixelsPerNs_(pixelWidth / static_cast<double>(range.durationNs())) {}

    int pixelAt(int64_t timeNs) const {
        if (timeNs <= range_.startNs) return 0;
        if (timeNs >= range_.endNs) return pixelWidth_;
        const double pixel =
            std::floor(static_cast<double>(timeNs - range_.startNs) * pixelsPerNs_);
        return std::min(static_cast<int>(pixel), pixelWidth_);
    }
    double pixelsOf(int64_t durationNs) const {
        return static_cast<double>(durationNs) * pixelsPerNs_;
    }

  private:
    TimeRange range_;
    int pixelWidth_;
    double pixelsPerNs_;
};

/// The first slice at or after `from` that starts right of `pixel`. O(log(result - from)).
uint32_t firstRightOf(const Lane& lane, const PixelScale& scale, uint32_t from, int pixel) {
    uint32_t step = 1;
    uint32_t low = from;
    uint32_t high = from;
    while (high < lane.size() && scale.pixelAt(lane.startNs[high]) <= pixel) {
        low = high + 1;
        high = step < lane.size() - high ? high + step : lane.size();
        step *= 2;
    }
    const auto begin = lane.startNs.begin();
    return static_cast<uint32_t>(
        std::partition_point(begin + low, begin + high,
                             [&](int64_t startNs) { return scale.pixelAt(startNs) <= pixel; }) -
        begin);
}

SliceCategory widestCategory(const Lane& lane, uint32_t first, uint32_t count) {
    const uint32_t step = (count + maximumLooks - 1) / maximumLooks;
    uint32_t widest = first;
    for (uint32_t slice = first; slice < first + count; slice += step)
        if (lane.endNs[slice] - lane.startNs[slice] > lane.endNs[widest] - lane.startNs[widest])
            widest = slice;
    return lane.category[widest];
}

}  // namespace

std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth) {
    std::vector<PixelSlice> result;
    if (lane.size() == 0 || range.isEmpty() || pixelWidth <= 0) return result;
    const PixelScale scale(range, pixelWidth);
    const auto busyInRange = [&](uint32_t first, uint32_t end) {
        int64_t busyNs = lane.busyNs[end] - lane.busyNs[first];
        busyNs -= std::max<int64_t>(0, range.startNs - lane.startNs[first]);
        busyNs -= std::max<int64_t>(0, lane.endNs[end - 1] - range.endNs);
        return std::max<int64_t>(0, busyNs);
    };
    const auto add = [&](int left, int right, uint32_t first, uint32_t end) {
        const auto coverage =
            static_cast<float>(scale.pixelsOf(busyInRange(first, end)) / (right - left));
        result.push_back({static_cast<float>(left), static_cast<float>(right), first, end - first,
                          std::clamp(coverage, minimumCoverage, 1.0f),
                          widestCategory(lane, first, end - first)});
    };

    // Ends are sorted as starts are, so the slices left of the range form a prefix.
    const auto firstVisible = std::partition_point(
        lane.endNs.begin(), lane.endNs.end(), [&](int64_t endNs) { return endNs < range.startNs; });
    auto slice = static_cast<uint32_t>(firstVisible - lane.endNs.begin());
    while (slice < lane.size() && lane.endNs[slice] == range.startNs &&
           lane.startNs[slice] < range.startNs)
        ++slice;

    while (slice < lane.size() && lane.startNs[slice] < range.endNs) {
        const int pixel = scale.pixelAt(lane.startNs[slice]);
        const uint32_t next = firstRightOf(lane, scale, slice, pixel);
        // Only the last slice that starts in a pixel can reach out of it. If it fills a pixel of
        // its own it is drawn as itself, right of what else lies in this one.
        const uint32_t last = next - 1;
        const int lastEnd = scale.pixelAt(lane.endNs[last]);
        const bool standsAlone = lastEnd > pixel + 1 || (last == slice && lastEnd > pixel);
        const uint32_t runEnd = standsAlone ? last : next;
        if (runEnd > slice) add(pixel, pixel + 1, slice, runEnd);
        if (standsAlone) add(runEnd > slice ? pixel + 1 : pixel, lastEnd, last, next);
        slice = next;
    }
    return result;
}

uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs) {
    const auto after = std::upper_bound(lane.startNs.begin(), lane.startNs.end(), timeNs);
    const auto next = static_cast<uint32_t>(after - lane.startNs.begin());
    uint32_t best = lane.size();
    int64_t bestDistanceNs = toleranceNs;
    if (next > 0) {
        const uint32_t previous = next - 1;
        if (lane.endNs[previous] > timeNs || lane.startNs[previous] == timeNs) return previous;
        const int64_t distanceNs = timeNs - lane.endNs[previous];
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

}  // namespace lanescope
