// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackGeometry.h"

#include <QThread>
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace lanescope::views {
namespace {

/// More would wait for memory instead of helping.
constexpr int maxHelpers = 3;

/// The pieces that threads take. A late helper finds none left and does not use `work`, which is gone by then.
struct Pieces {
    const std::function<void(size_t)>& work;
    const size_t count;
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};
    std::vector<char> hasFailed;  ///< By piece; set before `done` counts it.

    Pieces(const std::function<void(size_t)>& whole, size_t pieces) : work(whole), count(pieces), hasFailed(pieces) {}

    void take() {
        for (size_t piece = next++; piece < count; piece = next++) {
            try {
                work(piece);
            } catch (...) {
                hasFailed[piece] = 1;
            }
            if (++done == count) done.notify_all();
        }
    }
    void waitForOthers() const {
        for (size_t seen = done; seen < count; seen = done) done.wait(seen);
    }
};

}  // namespace

SharedWork::SharedWork() { pool_.setMaxThreadCount(std::clamp(QThread::idealThreadCount() - 1, 0, maxHelpers)); }

void SharedWork::run(size_t count, const std::function<void(size_t)>& work) {
    const auto pieces = std::make_shared<Pieces>(work, count);
    for (int helper = 0; helper < pool_.maxThreadCount(); ++helper) {
        if (static_cast<size_t>(helper) + 1 >= count) break;
        try {
            if (!pool_.tryStart([pieces] { pieces->take(); })) break;
        } catch (const std::bad_alloc&) {
            // Started pieces use `work`: it is left only when all are done.
            break;
        }
    }
    pieces->take();
    pieces->waitForOthers();
    for (size_t piece = 0; piece < count; ++piece)
        if (pieces->hasFailed[piece] != 0) work(piece);
}

namespace {

uint64_t keyOf(LanePosition lane) { return uint64_t{lane.track} << 32 | lane.lane; }

}  // namespace

void TrackGeometry::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    rectangles_.clear();
    columns_.clear();
}

void TrackGeometry::setView(TimeRange range, int pixelWidth) {
    if (range == range_ && pixelWidth == pixelWidth_) return;
    range_ = range;
    pixelWidth_ = pixelWidth;
    grid_.reset();
    if (pixelWidth > 0 && range.durationNs() >= pixelWidth) grid_.emplace(range, pixelWidth);
    rectangles_.clear();
    columns_.clear();
}

std::vector<PixelSlice> TrackGeometry::reduced(LanePosition lane) const {
    const Lane& reducedLane = trace_->tracks[lane.track].lanes[lane.lane];
    return grid_ ? reduceToPixels(reducedLane, *grid_) : reduceToPixels(reducedLane, range_, pixelWidth_);
}

void TrackGeometry::prepare(std::span<const LanePosition> lanes, std::span<const uint32_t> counters) {
    if (!isReady()) return;
    // Map entries first, on this thread: they do not move while others are filled.
    std::vector<std::function<void()>> missing;
    for (const LanePosition lane : lanes) {
        const auto [entry, isNew] = rectangles_.try_emplace(keyOf(lane));
        if (isNew) missing.emplace_back([this, lane, &to = entry->second] { to = reduced(lane); });
    }
    for (const uint32_t counter : counters) {
        const auto [entry, isNew] = columns_.try_emplace(counter);
        if (isNew)
            missing.emplace_back([this, counter, &to = entry->second] {
                to = trace_->counters[counter].extremesAt(range_, pixelWidth_);
            });
    }
    sharedWork_.run(missing.size(), [&missing](size_t piece) { missing[piece](); });
}

const std::vector<PixelSlice>& TrackGeometry::rectangles(LanePosition lane) {
    const auto [entry, isNew] = rectangles_.try_emplace(keyOf(lane));
    if (isNew && isReady()) entry->second = reduced(lane);
    return entry->second;
}

const std::vector<CounterColumn>& TrackGeometry::columns(uint32_t counter) {
    const auto [entry, isNew] = columns_.try_emplace(counter);
    if (isNew && isReady()) entry->second = trace_->counters[counter].extremesAt(range_, pixelWidth_);
    return entry->second;
}

const PixelSlice* TrackGeometry::rectangleAt(LanePosition lane, float x) {
    const std::vector<PixelSlice>& all = rectangles(lane);
    const auto found =
        std::partition_point(all.begin(), all.end(), [x](const PixelSlice& each) { return each.right <= x; });
    return found != all.end() && found->left <= x ? &*found : nullptr;
}

}  // namespace lanescope::views
