// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/Intervals.h"

#include <limits>

#include "model/numbers/groups.h"

namespace lanescope::analysis {

size_t countStarted(const Intervals& intervals, int64_t timeNs, size_t guess) {
    const auto isStarted = [&](size_t index) { return intervals.valueOf<0>(index) <= timeNs; };
    // Doubles the distance from the guess until the result is between.
    size_t low = std::min(guess, intervals.size()), high = low;
    for (size_t width = 1; high < intervals.size() && isStarted(high); width *= 2) {
        low = high + 1;
        high = std::min(intervals.size(), high + width);
    }
    for (size_t width = 1; low > 0 && !isStarted(low - 1); width *= 2) {
        high = low - 1;
        low -= std::min(low, width);
    }
    return firstNotBefore(low, high, isStarted);
}

size_t countUntil(const Intervals& intervals, int64_t timeNs) {
    const size_t started = countStarted(intervals, timeNs, intervals.size() / 2);
    return started > 0 && intervals[started - 1].endNs > timeNs ? started - 1 : started;
}

namespace {

bool isEarlier(const LabelledInterval& a, const LabelledInterval& b) { return a.startNs < b.startNs; }

/// Adds sorted intervals without their overlaps and without empty ones.
class Flattener {
  public:
    explicit Flattener(LargeMemory* memory) : kept_(memory) {}
    void add(LabelledInterval interval) {
        interval.startNs = std::max(interval.startNs, coveredUntilNs_);
        if (interval.endNs <= interval.startNs) return;
        coveredUntilNs_ = interval.endNs;
        kept_.push_back(interval);
    }
    Intervals finish() { return std::move(kept_); }

  private:
    Intervals kept_;
    int64_t coveredUntilNs_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

Intervals withoutOverlaps(Intervals intervals) {
    bool isSorted = true, isFlat = true;
    int64_t startNs = std::numeric_limits<int64_t>::min(), endNs = startNs;
    for (Intervals::Reader each(intervals); !each.isAtEnd() && isSorted; each.next()) {
        isSorted = each->startNs >= startNs;
        isFlat = isFlat && each->startNs >= endNs && each->endNs > each->startNs;
        startNs = each->startNs;
        endNs = each->endNs;
    }
    if (isSorted && isFlat) return intervals;
    Flattener flattener(intervals.memory());
    if (isSorted) {
        for (Intervals::Reader each(intervals); !each.isAtEnd(); each.next()) flattener.add(*each);
        return flattener.finish();
    }
    LargeVector<LabelledInterval> sorted(intervals.memory());
    sorted.reserve(intervals.size());
    for (Intervals::Reader each(intervals); !each.isAtEnd(); each.next()) sorted.push_back(*each);
    intervals = Intervals(intervals.memory());
    sortLarge(sorted, isEarlier);
    for (const LabelledInterval& each : sorted) flattener.add(each);
    return flattener.finish();
}

Intervals without(const Intervals& from, const Intervals& holes) {
    return without(from, holes, [](auto...) {});
}

UnassignedTime::UnassignedTime(const std::vector<TimeRange>& windows, LargeMemory* memory) : free_(memory) {
    for (uint32_t index = 0; index < windows.size(); ++index)
        if (!windows[index].isEmpty()) free_.push_back({windows[index].startNs, windows[index].endNs, index});
}

}  // namespace lanescope::analysis
