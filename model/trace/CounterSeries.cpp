// SPDX-License-Identifier: Apache-2.0
#include "model/trace/CounterSeries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/text/formatValue.h"

namespace lanescope {

namespace {

// Products of two times exceed 64 bits, and rounding could select the wrong column.
__extension__ using Wide = __int128;

std::string formatHertz(double value) {
    if (std::abs(value) >= 1e9) return fmt::format("{:.3g} GHz", value / 1e9);
    if (std::abs(value) >= 1e6) return fmt::format("{:.4g} MHz", value / 1e6);
    return fmt::format("{:.4g} Hz", value);
}

size_t firstFrom(const Column<int64_t>& timesNs, int64_t timeNs) {
    const auto found = std::lower_bound(timesNs.begin(), timesNs.end(), timeNs);
    return static_cast<size_t>(found - timesNs.begin());
}

/// Returns the sample in effect at `timeNs`, or the first one.
size_t firstAffecting(const Column<int64_t>& timesNs, int64_t timeNs) {
    const size_t from = firstFrom(timesNs, timeNs);
    const bool begins = from < timesNs.size() && timesNs[from] == timeNs;
    return begins || from == 0 ? from : from - 1;
}

/// Formats in decimal units, as data sheets of links do.
std::string formatBytesPerSecond(double value) {
    const double size = std::abs(value);
    if (size >= 1e8) return fmt::format("{:.3g} GB/s", value / 1e9);
    if (size >= 1e5) return fmt::format("{:.3g} MB/s", value / 1e6);
    if (size >= 1e3) return fmt::format("{:.3g} kB/s", value / 1e3);
    return fmt::format("{:.0f} B/s", value);
}

/// NaN until a number was added.
struct Extremes {
    double minValue = std::numeric_limits<double>::quiet_NaN();
    double maxValue = minValue;

    void take(const Column<double>& lows, const Column<double>& highs, size_t first, size_t end) {
        for (size_t i = first; i < end; ++i) {
            // Comparisons with NaN are false.
            const double low = lows[i], high = highs[i];
            if (!(minValue <= low) && low == low) minValue = low;
            if (!(maxValue >= high) && high == high) maxValue = high;
        }
    }
};

// Products of two times exceed 64 bits, and rounding could select the wrong column.
__extension__ using Wide = __int128;

/// Groups are as large as possible with this average number per column.
constexpr size_t groupsPerColumn = 2;
/// Minimum number of groups; a range of fewer is drawn from finer groups.
constexpr size_t minGroups = 64;

/// Columns of equal width over a range, exact at any zoom.
class ColumnScale {
  public:
    ColumnScale(TimeRange range, int columnCount)
        : range_(range), columnCount_(columnCount), spanNs_(Wide{range.endNs} - range.startNs) {}

    /// Returns the last nanosecond at or left of the left edge of `column`.
    int64_t left(int column) const { return static_cast<int64_t>(range_.startNs + spanNs_ * column / columnCount_); }
    /// Returns the first nanosecond at or right of the right edge of `column`.
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

/// Returns the first index of `[low, high)` whose time is `timeNs` or later, else `high`.
size_t firstFrom(const Column<int64_t>& timesNs, size_t low, size_t high, int64_t timeNs) {
    const auto begin = timesNs.begin();
    const auto found =
        std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), timeNs);
    return static_cast<size_t>(found - begin);
}

}  // namespace

std::string_view identifier(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::Bytes: return "B";
        case CounterUnit::BytesPerSecond: return "B/s";
        case CounterUnit::Percent: return "%";
        case CounterUnit::Watts: return "W";
        case CounterUnit::Celsius: return "C";
        case CounterUnit::Hertz: return "Hz";
        case CounterUnit::Joules: return "J";
        case CounterUnit::Flags: return "flags";
        case CounterUnit::Count: break;
    }
    return "count";
}

std::string formatCounter(double value, CounterUnit unit) {
    if (std::isnan(value)) return "unknown";
    const double maxWhole = static_cast<double>(int64_t{1} << 62);
    const auto whole = static_cast<int64_t>(std::clamp(value, -maxWhole, maxWhole));
    switch (unit) {
        case CounterUnit::Bytes: return formatBytes(whole);
        case CounterUnit::BytesPerSecond: return formatBytesPerSecond(value);
        case CounterUnit::Percent: return fmt::format("{:.1f} %", value);
        case CounterUnit::Watts: return fmt::format("{:.4g} W", value);
        case CounterUnit::Celsius: return fmt::format("{:.3g} \u00b0C", value);
        case CounterUnit::Hertz: return formatHertz(value);
        case CounterUnit::Joules: return fmt::format("{:.4g} J", value);
        case CounterUnit::Flags: return fmt::format("0x{:x}", static_cast<uint64_t>(std::max<int64_t>(0, whole)));
        case CounterUnit::Count: break;
    }
    if (value == std::floor(value)) return formatCount(whole);
    return fmt::format("{:.4g}", value);
}

void CounterSeries::set(const LargeVector<int64_t>& timesNs, const LargeVector<double>& values, int64_t endNs) {
    LargeMemory* const memory = timesNs.get_allocator().memory();
    timesNs_ = Column<int64_t>(memory);
    values_ = Column<double>(memory);
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
    addLevel(minGroupSize, timesNs_, values_, values_);
    while (levels_.back().minValue.size() > minGroupSize) {
        const Level& below = levels_.back();
        addLevel(fanOut, below.timesNs, below.minValue, below.maxValue);
    }
    const CounterColumn all = extremesOf(0, values_.size());
    if (!all.hasValue) return;
    minimum_ = all.minimum;
    maximum_ = all.maximum;
}

void CounterSeries::addLevel(size_t group, const Column<int64_t>& timesNs, const Column<double>& minValue,
                             const Column<double>& maxValue) {
    Level level(timesNs.memory());
    for (size_t first = 0; first < minValue.size(); first += group) {
        Extremes extremes;
        extremes.take(minValue, maxValue, first, std::min(first + group, minValue.size()));
        level.timesNs.push_back(timesNs[first]);
        level.minValue.push_back(extremes.minValue);
        level.maxValue.push_back(extremes.maxValue);
    }
    levels_.push_back(std::move(level));
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
    if (sample > 0 && Wide{timeNs} - timesNs_[sample - 1] <= Wide{timesNs_[sample]} - timeNs) --sample;
    return sample;
}

CounterColumn CounterSeries::extremesOf(size_t low, size_t high) const {
    Extremes extremes;
    const Column<double>* minValue = &values_;
    const Column<double>* maxValue = &values_;
    // Reads samples outside of full groups singly, and full groups on the next level.
    size_t group = minGroupSize;
    for (size_t level = 0; level < levels_.size() && high >= low + group; ++level) {
        const size_t firstGroup = (low + group - 1) / group;
        const size_t endGroup = high / group;
        if (firstGroup >= endGroup) break;
        extremes.take(*minValue, *maxValue, low, firstGroup * group);
        extremes.take(*minValue, *maxValue, endGroup * group, high);
        low = firstGroup;
        high = endGroup;
        minValue = &levels_[level].minValue;
        maxValue = &levels_[level].maxValue;
        group = fanOut;
    }
    extremes.take(*minValue, *maxValue, low, high);
    CounterColumn column{.hasValue = !std::isnan(extremes.minValue)};
    if (!column.hasValue) return column;
    column.minimum = extremes.minValue;
    column.maximum = extremes.maxValue;
    return column;
}

bool CounterSeries::isSound() const {
    size_t below = values_.size();
    if (timesNs_.size() != below || below > EventRef::maxRow) return false;
    size_t group = minGroupSize;
    for (const Level& level : levels_) {
        below = (below + group - 1) / group;
        if (level.timesNs.size() != below || level.minValue.size() != below || level.maxValue.size() != below)
            return false;
        group = fanOut;
    }
    // `CounterPicture` relies on few groups in the coarsest level.
    return below <= minGroupSize && levels_.empty() == values_.empty();
}

CounterColumn CounterSeries::extremesIn(TimeRange range) const {
    if (range.isEmpty() || timesNs_.empty() || endNs_ <= range.startNs) return {};
    return extremesOf(firstAffecting(timesNs_, range.startNs), firstFrom(timesNs_, range.endNs));
}

CounterPicture::CounterPicture(const CounterSeries& series, TimeRange range, int columnCount)
    : series_(series), range_(range), columnCount_(columnCount) {
    chooseGroups();
}

void CounterPicture::chooseGroups() {
    // Descends from the coarsest level, so that no finer level than needed is read.
    const auto& levels = series_.levels_;
    const size_t enough = std::max(minGroups, groupsPerColumn * static_cast<size_t>(columnCount_));
    size_t first = 0;
    size_t end = levels.empty() ? series_.timesNs_.size() : levels.back().timesNs.size();
    for (size_t level = levels.size();; --level) {
        const bool isSamples = level == 0;
        const Column<int64_t>& timesNs = isSamples ? series_.timesNs_ : levels[level - 1].timesNs;
        end = std::min(end, timesNs.size());
        first = firstFrom(timesNs, std::min(first, end), end, range_.startNs);
        end = firstFrom(timesNs, first, end, range_.endNs);
        if (isSamples || end - first >= enough) {
            group_ = isSamples ? 1 : groupSize(level - 1);
            const Column<double>& minValue = isSamples ? series_.values_ : levels[level - 1].minValue;
            const Column<double>& maxValue = isSamples ? series_.values_ : levels[level - 1].maxValue;
            decode(timesNs, minValue, maxValue, first, end);
            return;
        }
        // The end of the previous group may overlap the range.
        const size_t finer = level == 1 ? CounterSeries::minGroupSize : CounterSeries::fanOut;
        first = (first - (first > 0 ? 1 : 0)) * finer;
        end *= finer;
    }
}

size_t CounterPicture::groupSize(size_t level) {
    size_t size = CounterSeries::minGroupSize;
    for (size_t i = 0; i < level; ++i) size *= CounterSeries::fanOut;
    return size;
}

void CounterPicture::decode(const Column<int64_t>& timesNs, const Column<double>& minValue,
                            const Column<double>& maxValue, size_t first, size_t end) {
    firstGroup_ = first - (first > 0 ? 1 : 0);
    // One more, because the last edge may move there.
    const size_t count = std::min(end + 1, timesNs.size()) - firstGroup_;
    timesNs_.resize(count);
    minValues_.resize(count);
    maxValues_.resize(count);
    timesNs.copyTo(timesNs_, firstGroup_);
    minValue.copyTo(minValues_, firstGroup_);
    maxValue.copyTo(maxValues_, firstGroup_);
}

CounterPicture::Edge CounterPicture::edgeAt(int64_t timeNs, size_t from, int64_t toleranceNs) {
    while (next_ < timesNs_.size() && timesNs_[next_] < timeNs) ++next_;
    const size_t count = series_.timesNs_.size();
    const size_t border = std::min((firstGroup_ + next_) * group_, count);
    if (group_ == 1) return {border, false};
    if (next_ < timesNs_.size() && Wide{timesNs_[next_]} - timeNs <= toleranceNs) return {border, true};
    // Samples are sparse here, so the border of the group is far away.
    const size_t before = border - std::min(border, group_);
    return {firstFrom(series_.timesNs_, std::max(from, before), border, timeNs), false};
}

CounterColumn CounterPicture::extremesOf(size_t low, size_t high) const {
    const size_t first = low / group_ - firstGroup_;
    const size_t end = high / group_ - firstGroup_;
    const bool isWhole =
        low % group_ == 0 && high % group_ == 0 && low / group_ >= firstGroup_ && end <= timesNs_.size();
    if (!isWhole) return series_.extremesOf(low, high);
    CounterColumn column;
    for (size_t i = first; i < end; ++i) {
        if (std::isnan(minValues_[i])) continue;
        column.minimum = column.hasValue ? std::min(column.minimum, minValues_[i]) : minValues_[i];
        column.maximum = column.hasValue ? std::max(column.maximum, maxValues_[i]) : maxValues_[i];
        column.hasValue = true;
    }
    return column;
}

std::vector<CounterColumn> CounterPicture::columns() {
    std::vector<CounterColumn> columns(static_cast<size_t>(columnCount_));
    const ColumnScale scale(range_, columnCount_);
    // The left edge of the first column must not move.
    Edge left = edgeAt(range_.startNs, 0, -1);
    for (int column = 0; column < columnCount_; ++column) {
        const int64_t leftNs = scale.left(column);
        if (series_.endNs_ <= leftNs) break;
        const Edge right = edgeAt(scale.right(column), left.sample, scale.halfWidthNs());
        size_t low = left.sample;
        // The previous value extends into the column, unless a value begins exactly at its edge.
        const bool isAlone = low == right.sample;
        if (low > 0 && (isAlone || (!left.isMoved && series_.timesNs_[low] > leftNs))) --low;
        columns[static_cast<size_t>(column)] = extremesOf(low, right.sample);
        left = right;
    }
    return columns;
}

std::vector<CounterColumn> CounterSeries::extremesAt(TimeRange range, int pixelWidth) const {
    if (range.isEmpty() || pixelWidth <= 0 || timesNs_.empty())
        return std::vector<CounterColumn>(static_cast<size_t>(std::max(0, pixelWidth)));
    return CounterPicture(*this, range, pixelWidth).columns();
}

}  // namespace lanescope
