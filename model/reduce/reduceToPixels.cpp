// SPDX-License-Identifier: Apache-2.0
#include "model/reduce/reduceToPixels.h"

#include <algorithm>

#include "model/reduce/LaneEdges.h"
#include "model/reduce/wrappingSum.h"

namespace lanescope {

namespace {

/// Drawn at least this strongly, however short the slices of a run are.
constexpr float minimumCoverage = 1.0f / 1024;

/// Goes over the pixels of one lane from left to right.
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
            // In a damaged file they may not ascend.
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
    /// The pixel belongs to one slice that started left of it.
    void extend(int pixel, uint32_t slice, const LaneEdge& right) {
        const bool isGoingOn =
            !result_.empty() && current().sliceCount == 1 && current().firstSlice == slice;
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

    /// Sets the coverage of the last rectangle, now that its right edge is known.
    void finish() {
        if (result_.empty()) return;
        const int64_t widthNs = grid_.edge(static_cast<int>(current().right)) -
                                grid_.edge(static_cast<int>(current().left));
        const double share = static_cast<double>(busyNs_) / static_cast<double>(widthNs);
        current().coverage = std::clamp(static_cast<float>(share), minimumCoverage, 1.0f);
        busyNs_ = 0;
    }

    const PixelGrid& grid_;
    LaneEdges edges_;
    LaneEdge left_;
    int64_t busyNs_ = 0;  ///< Within the last rectangle.
    std::vector<PixelSlice> result_;
};

}  // namespace

std::vector<PixelSlice> reduceToPixels(const Lane& lane, TimeRange range, int pixelWidth) {
    if (lane.size() == 0 || range.isEmpty() || pixelWidth <= 0) return {};
    if (range.durationNs() >= pixelWidth) return reduceToPixels(lane, PixelGrid(range, pixelWidth));
    // Every nanosecond is one pixel first, then as wide as it is.
    const auto nanoseconds = static_cast<int>(range.durationNs());
    std::vector<PixelSlice> result = reduceToPixels(lane, PixelGrid(range, nanoseconds));
    const auto widened = [&](float nanosecond) {
        return static_cast<float>(static_cast<int64_t>(nanosecond) * pixelWidth / nanoseconds);
    };
    for (PixelSlice& each : result) {
        each.left = widened(each.left);
        // What has no length gets no more than a pixel.
        each.right = each.coverage <= minimumCoverage ? each.left + 1 : widened(each.right);
    }
    return result;
}

std::vector<PixelSlice> reduceToPixels(const Lane& lane, const PixelGrid& grid) {
    return lane.size() == 0 ? std::vector<PixelSlice>() : PixelWalk(lane, grid).walk();
}

uint32_t widestOf(const Lane& lane, const PixelSlice& rectangle) {
    const uint32_t first = rectangle.firstSlice;
    return rectangle.sliceCount <= 1 ? first
                                     : widestSlice(lane, first, first + rectangle.sliceCount);
}

uint32_t sliceAt(const Lane& lane, int64_t timeNs, int64_t toleranceNs) {
    const auto after = std::upper_bound(lane.startNs.begin(), lane.startNs.end(), timeNs);
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

}  // namespace lanescope
