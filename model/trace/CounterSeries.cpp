#include "model/trace/CounterSeries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/export/formatValue.h"

namespace lanescope {

namespace {

// Products of two times do not fit into 64 bits, and a rounded one could miss its column.
__extension__ using Wide = __int128;

/// Columns of equal width over a range, exact however far one has zoomed in.
class ColumnScale {
  public:
    ColumnScale(TimeRange range, int columnCount)
        : range_(range), columnCount_(columnCount), spanNs_(Wide{range.endNs} - range.startNs) {}

    /// The last nanosecond at or left of the left edge of `column`.
    int64_t left(int column) const {
        return static_cast<int64_t>(range_.startNs + spanNs_ * column / columnCount_);
    }
    /// The first nanosecond at or right of the right edge of `column`.
    int64_t right(int column) const {
        const Wide ends = spanNs_ * (column + 1);
        return static_cast<int64_t>(range_.startNs + (ends + columnCount_ - 1) / columnCount_);
    }
    int64_t halfWidthNs() const { return static_cast<int64_t>(spanNs_ / (2 * columnCount_)); }

  private:
    TimeRange range_;
    int columnCount_;
    Wide spanNs_;
};

std::string formatHertz(double value) {
    if (std::abs(value) >= 1e9) return fmt::format("{:.3g} GHz", value / 1e9);
    if (std::abs(value) >= 1e6) return fmt::format("{:.4g} MHz", value / 1e6);
    return fmt::format("{:.4g} Hz", value);
}

/// The first of the indices `[from, end)` for which `holds` no longer is true, in O(log(distance to
/// it)); quickest if that is somewhat more than `step`, which must not be 0.
template <class Holds>
size_t partitionNear(size_t from, size_t end, size_t step, Holds holds) {
    size_t low = from, high = end;
    for (bool isFirst = true; high - low > step; isFirst = false) {
        if (!holds(low + step)) {
            high = low + step;
            break;
        }
        low += step + 1;
        step = isFirst ? std::max<size_t>(1, step / 4) : step * 2;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        holds(middle) ? low = middle + 1 : high = middle;
    }
    return low;
}

/// The first sample at `timeNs` or later.
size_t firstFrom(const Column<int64_t>& timesNs, int64_t timeNs) {
    return partitionNear(0, timesNs.size(), timesNs.size() / 2 + 1,
                         [&](size_t sample) { return timesNs[sample] < timeNs; });
}

/// The sample in force at `timeNs`, or the first of all.
size_t firstAffecting(const Column<int64_t>& timesNs, int64_t timeNs) {
    const size_t from = firstFrom(timesNs, timeNs);
    const bool begins = from < timesNs.size() && timesNs[from] == timeNs;
    return begins || from == 0 ? from : from - 1;
}

/// Edges of columns move to borders of groups of which a column holds so many on average.
constexpr size_t groupsPerPixel = 2;

struct ColumnEdge {
    size_t sample = 0;  ///< The first right of it.
    bool isMoved = false;
};

/// Finds the edges of columns among samples, from left to right. An edge moves to the right, to
/// where the next group of samples begins, if that is near: then no sample of its own is looked at.
class ColumnEdges {
  public:
    ColumnEdges(const Column<int64_t>& timesNs, size_t group, int64_t toleranceNs)
        : timesNs_(timesNs), group_(group), toleranceNs_(toleranceNs) {}

    /// The edge at `timeNs`, which is not left of sample `from`; quickest if about `step` behind
    /// it.
    ColumnEdge at(int64_t timeNs, size_t from, size_t step) const {
        const size_t count = timesNs_.size();
        const auto isBefore = [&](size_t sample) { return timesNs_[sample] < timeNs; };
        const size_t behind =
            partitionNear((from + group_ - 1) / group_, (count + group_ - 1) / group_,
                          std::max<size_t>(1, step / group_),
                          [&](size_t group) { return isBefore(group * group_); });
        const size_t border = std::min(behind * group_, count);
        if (group_ == 1) return {border, false};
        if (border < count && Wide{timesNs_[border]} - timeNs <= toleranceNs_)
            return {border, true};
        // Few samples lie here, so that the border of the group is far.
        const size_t before = behind == 0 ? 0 : (behind - 1) * group_;
        return {partitionNear(std::max(from, before), border, group_ / 2, isBefore), false};
    }

  private:
    const Column<int64_t>& timesNs_;
    size_t group_;
    int64_t toleranceNs_;
};

/// In decimal units, as data sheets of links give them.
std::string formatBytesPerSecond(double value) {
    const double size = std::abs(value);
    if (size >= 1e8) return fmt::format("{:.3g} GB/s", value / 1e9);
    if (size >= 1e5) return fmt::format("{:.3g} MB/s", value / 1e6);
    if (size >= 1e3) return fmt::format("{:.3g} kB/s", value / 1e3);
    return fmt::format("{:.0f} B/s", value);
}

/// Not a number as long as nothing that is one was taken.
struct Extremes {
    double least = std::numeric_limits<double>::quiet_NaN();
    double greatest = least;

    void take(const Column<double>& leasts, const Column<double>& greatests, size_t first,
              size_t end) {
        for (size_t i = first; i < end; ++i) {
            // Of comparisons with what is not a number none is true.
            const double low = leasts[i], high = greatests[i];
            if (!(least <= low) && low == low) least = low;
            if (!(greatest >= high) && high == high) greatest = high;
        }
    }
};

}  // namespace

std::string formatCounter(double value, CounterUnit unit) {
    if (std::isnan(value)) return "unknown";
    const double most = static_cast<double>(int64_t{1} << 62);
    const auto whole = static_cast<int64_t>(std::clamp(value, -most, most));
    switch (unit) {
        case CounterUnit::Bytes:
            return formatBytes(whole);
        case CounterUnit::BytesPerSecond:
            return formatBytesPerSecond(value);
        case CounterUnit::Percent:
            return fmt::format("{:.1f} %", value);
        case CounterUnit::Watts:
            return fmt::format("{:.4g} W", value);
        case CounterUnit::Celsius:
            return fmt::format("{:.3g} \u00b0C", value);
        case CounterUnit::Hertz:
            return formatHertz(value);
        case CounterUnit::Joules:
            return fmt::format("{:.4g} J", value);
        case CounterUnit::Flags:
            return fmt::format("0x{:x}", static_cast<uint64_t>(std::max<int64_t>(0, whole)));
        case CounterUnit::Count:
            break;
    }
    if (value == std::floor(value)) return formatCount(whole);
    return fmt::format("{:.4g}", value);
}

void CounterSeries::set(std::vector<int64_t> timesNs, std::vector<double> values, int64_t endNs) {
    timesNs_.clear();
    values_.clear();
    minimum_ = maximum_ = 0;
    levels_.clear();
    for (size_t i = 0; i < timesNs.size() && i < values.size(); ++i) {
        if (!timesNs_.empty() && timesNs[i] <= timesNs_.back()) {
            values_.set(values_.size() - 1, values[i]);
            continue;
        }
        timesNs_.push_back(timesNs[i]);
        values_.push_back(values[i]);
    }
    endNs_ = timesNs_.empty() ? endNs : std::max(endNs, timesNs_.back() + 1);
    if (timesNs_.empty()) return;
    const auto addLevel = [this](const Column<double>& least, const Column<double>& greatest) {
        Level level;
        for (size_t first = 0; first < least.size(); first += fanOut) {
            Extremes extremes;
            extremes.take(least, greatest, first, std::min(first + fanOut, least.size()));
            level.least.push_back(extremes.least);
            level.greatest.push_back(extremes.greatest);
        }
        levels_.push_back(std::move(level));
    };
    addLevel(values_, values_);
    while (levels_.back().least.size() > fanOut) {
        const Level below = levels_.back();
        addLevel(below.least, below.greatest);
    }
    const CounterColumn all = extremesOf(0, values_.size());
    if (!all.hasValue) return;
    minimum_ = all.minimum;
    maximum_ = all.maximum;
}

TimeRange CounterSeries::rangeOf(uint32_t sample) const {
    return {timesNs_[sample], sample + 1 < size() ? timesNs_[sample + 1] : endNs_};
}

std::optional<uint32_t> CounterSeries::sampleAt(int64_t timeNs) const {
    const auto after = std::upper_bound(timesNs_.begin(), timesNs_.end(), timeNs);
    if (after == timesNs_.begin() || timeNs >= endNs_) return std::nullopt;
    const auto sample = static_cast<uint32_t>(after - timesNs_.begin()) - 1;
    if (std::isnan(values_[sample])) return std::nullopt;
    return sample;
}

uint32_t CounterSeries::nearestSample(int64_t timeNs) const {
    const auto after = std::lower_bound(timesNs_.begin(), timesNs_.end(), timeNs);
    auto sample = static_cast<uint32_t>(after - timesNs_.begin());
    if (sample == size()) return sample - 1;
    if (sample > 0 && Wide{timeNs} - timesNs_[sample - 1] <= Wide{timesNs_[sample]} - timeNs)
        --sample;
    return sample;
}

CounterColumn CounterSeries::extremesOf(size_t low, size_t high) const {
    Extremes extremes;
    const Column<double>* least = &values_;
    const Column<double>* greatest = &values_;
    // What lies left and right of whole groups is looked at singly, the groups a level above.
    for (size_t level = 0; level < levels_.size() && high >= low + fanOut; ++level) {
        const size_t firstGroup = (low + fanOut - 1) / fanOut;
        const size_t endGroup = high / fanOut;
        extremes.take(*least, *greatest, low, firstGroup * fanOut);
        extremes.take(*least, *greatest, endGroup * fanOut, high);
        low = firstGroup;
        high = endGroup;
        least = &levels_[level].least;
        greatest = &levels_[level].greatest;
    }
    extremes.take(*least, *greatest, low, high);
    CounterColumn column;
    column.hasValue = !std::isnan(extremes.least);
    if (!column.hasValue) return column;
    column.minimum = extremes.least;
    column.maximum = extremes.greatest;
    return column;
}

bool CounterSeries::isSound() const {
    size_t below = values_.size();
    if (timesNs_.size() != below || below > EventRef::maximumRow) return false;
    for (const Level& level : levels_) {
        below = (below + fanOut - 1) / fanOut;
        if (level.least.size() != below || level.greatest.size() != below) return false;
    }
    return true;
}

CounterColumn CounterSeries::extremesIn(TimeRange range) const {
    if (range.isEmpty() || timesNs_.empty() || endNs_ <= range.startNs) return {};
    return extremesOf(firstAffecting(timesNs_, range.startNs), firstFrom(timesNs_, range.endNs));
}

std::vector<CounterColumn> CounterSeries::extremesAt(TimeRange range, int pixelWidth) const {
    std::vector<CounterColumn> columns(static_cast<size_t>(std::max(0, pixelWidth)));
    if (range.isEmpty() || columns.empty() || timesNs_.empty()) return columns;
    const size_t first = firstFrom(timesNs_, range.startNs);
    const size_t perPixel = (firstFrom(timesNs_, range.endNs) - first) / columns.size();
    size_t group = 1;
    while (group * fanOut * groupsPerPixel <= perPixel) group *= fanOut;

    const ColumnScale scale(range, pixelWidth);
    const ColumnEdges edges(timesNs_, group, scale.halfWidthNs());
    size_t step = 1;
    ColumnEdge left{first, false};
    for (int column = 0; column < pixelWidth; ++column) {
        const int64_t leftNs = scale.left(column);
        if (endNs_ <= leftNs) break;
        const ColumnEdge right = edges.at(scale.right(column), left.sample, step);
        // Columns hold about as many samples each.
        step = std::max<size_t>(1, (right.sample - left.sample) * 7 / 8);
        size_t low = left.sample;
        // The value from before goes on into the column, unless one begins right at its edge.
        const bool isAlone = low == right.sample;
        if (low > 0 && (isAlone || (!left.isMoved && timesNs_[low] > leftNs))) --low;
        columns[static_cast<size_t>(column)] = extremesOf(low, right.sample);
        left = right;
    }
    return columns;
}

}  // namespace lanescope
