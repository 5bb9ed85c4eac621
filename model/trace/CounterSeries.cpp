#include "model/trace/CounterSeries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

    /// True if `timeNs` lies left of the right edge of `column`.
    bool beginsBefore(int64_t timeNs, int column) const {
        return (Wide{timeNs} - range_.startNs) * columnCount_ < spanNs_ * (column + 1);
    }
    /// True if `timeNs` lies at or left of the left edge of `column`.
    bool isAtOrBefore(int64_t timeNs, int column) const {
        return (Wide{timeNs} - range_.startNs) * columnCount_ <= spanNs_ * column;
    }

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

}  // namespace

std::string formatCounter(double value, CounterUnit unit) {
    if (std::isnan(value)) return "unknown";
    const double most = static_cast<double>(int64_t{1} << 62);
    const auto whole = static_cast<int64_t>(std::clamp(value, -most, most));
    switch (unit) {
        case CounterUnit::Bytes:
            return formatBytes(whole);
        case CounterUnit::BytesPerSecond:
            return fmt::format("{:.3g} GB/s", value / 1e9);
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
    tree_.reset();
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
    tree_.emplace(values_.begin(), values_.end(), [](double value) { return value; });
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
    CounterColumn column;
    if (low >= high) return column;
    column.minimum = tree_->minimum(low, high);
    column.maximum = tree_->maximum(low, high);
    column.hasValue = column.minimum <= column.maximum;
    if (!column.hasValue) return {};
    return column;
}

CounterColumn CounterSeries::extremesIn(TimeRange range) const {
    return range.isEmpty() ? CounterColumn() : extremesAt(range, 1).front();
}

std::vector<CounterColumn> CounterSeries::extremesAt(TimeRange range, int pixelWidth) const {
    std::vector<CounterColumn> columns(static_cast<size_t>(std::max(0, pixelWidth)));
    if (range.isEmpty() || timesNs_.empty()) return columns;
    const ColumnScale scale(range, pixelWidth);
    const auto begin = timesNs_.begin();
    auto from = begin;  // the first sample right of the column before
    for (int column = 0; column < pixelWidth; ++column) {
        if (scale.isAtOrBefore(endNs_, column)) break;
        const auto last = std::partition_point(from, timesNs_.end(), [&](int64_t timeNs) {
            return scale.beginsBefore(timeNs, column);
        });
        // The value from before goes on into the column, unless one begins right at its edge.
        const auto inside = std::partition_point(
            from, last, [&](int64_t timeNs) { return scale.isAtOrBefore(timeNs, column); });
        const size_t low = inside == begin ? 0 : static_cast<size_t>(inside - begin) - 1;
        columns[static_cast<size_t>(column)] = extremesOf(low, static_cast<size_t>(last - begin));
        from = last;
    }
    return columns;
}

}  // namespace lanescope
