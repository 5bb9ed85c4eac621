// SPDX-License-Identifier: Apache-2.0
#include "model/trace/CounterPicture.h"

#include <algorithm>
#include <cmath>

namespace lanescope {

namespace {

// Products of two times do not fit into 64 bits, and a rounded one could miss its column.
__extension__ using Wide = __int128;

/// The groups are as large as they can be with so many in a column on average.
constexpr size_t groupsPerColumn = 2;
/// A range of fewer groups is drawn from finer ones: a few columns need not be rough.
constexpr size_t leastGroups = 64;

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

/// The first index of `[low, high)` whose time is `timeNs` or later, else `high`.
size_t firstFrom(const Column<int64_t>& timesNs, size_t low, size_t high, int64_t timeNs) {
    const auto begin = timesNs.begin();
    const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                        begin + static_cast<std::ptrdiff_t>(high), timeNs);
    return static_cast<size_t>(found - begin);
}

}  // namespace

CounterPicture::CounterPicture(const CounterSeries& series, TimeRange range, int columnCount)
    : series_(series), range_(range), columnCount_(columnCount) {
    chooseGroups();
}

void CounterPicture::chooseGroups() {
    // From the coarsest level down, so that nothing finer than needed is touched.
    const auto& levels = series_.levels_;
    const size_t enough =
        std::max(leastGroups, groupsPerColumn * static_cast<size_t>(columnCount_));
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
            const Column<double>& least = isSamples ? series_.values_ : levels[level - 1].least;
            const Column<double>& greatest =
                isSamples ? series_.values_ : levels[level - 1].greatest;
            decode(timesNs, least, greatest, first, end);
            return;
        }
        // The group before may reach into the range with its last ones.
        const size_t finer = level == 1 ? CounterSeries::leastGroup : CounterSeries::fanOut;
        first = (first - (first > 0 ? 1 : 0)) * finer;
        end *= finer;
    }
}

size_t CounterPicture::groupSize(size_t level) {
    size_t size = CounterSeries::leastGroup;
    for (size_t i = 0; i < level; ++i) size *= CounterSeries::fanOut;
    return size;
}

void CounterPicture::decode(const Column<int64_t>& timesNs, const Column<double>& least,
                            const Column<double>& greatest, size_t first, size_t end) {
    firstGroup_ = first - (first > 0 ? 1 : 0);
    // One more: the edge right of all may move there.
    const size_t count = std::min(end + 1, timesNs.size()) - firstGroup_;
    timesNs_.resize(count);
    least_.resize(count);
    greatest_.resize(count);
    timesNs.copyTo(timesNs_, firstGroup_);
    least.copyTo(least_, firstGroup_);
    greatest.copyTo(greatest_, firstGroup_);
}

CounterPicture::Edge CounterPicture::edgeAt(int64_t timeNs, size_t from, int64_t toleranceNs) {
    while (next_ < timesNs_.size() && timesNs_[next_] < timeNs) ++next_;
    const size_t count = series_.timesNs_.size();
    const size_t border = std::min((firstGroup_ + next_) * group_, count);
    if (group_ == 1) return {border, false};
    if (next_ < timesNs_.size() && Wide{timesNs_[next_]} - timeNs <= toleranceNs)
        return {border, true};
    // Few samples lie here, so that the border of the group is far.
    const size_t before = border - std::min(border, group_);
    return {firstFrom(series_.timesNs_, std::max(from, before), border, timeNs), false};
}

CounterColumn CounterPicture::extremesOf(size_t low, size_t high) const {
    const size_t first = low / group_ - firstGroup_;
    const size_t end = high / group_ - firstGroup_;
    const bool isWhole = low % group_ == 0 && high % group_ == 0 && low / group_ >= firstGroup_ &&
                         end <= timesNs_.size();
    if (!isWhole) return series_.extremesOf(low, high);
    CounterColumn column;
    for (size_t i = first; i < end; ++i) {
        if (std::isnan(least_[i])) continue;
        column.minimum = column.hasValue ? std::min(column.minimum, least_[i]) : least_[i];
        column.maximum = column.hasValue ? std::max(column.maximum, greatest_[i]) : greatest_[i];
        column.hasValue = true;
    }
    return column;
}

std::vector<CounterColumn> CounterPicture::columns() {
    std::vector<CounterColumn> columns(static_cast<size_t>(columnCount_));
    const ColumnScale scale(range_, columnCount_);
    // Nothing lies left of the first column, so its edge must not move.
    Edge left = edgeAt(range_.startNs, 0, -1);
    for (int column = 0; column < columnCount_; ++column) {
        const int64_t leftNs = scale.left(column);
        if (series_.endNs_ <= leftNs) break;
        const Edge right = edgeAt(scale.right(column), left.sample, scale.halfWidthNs());
        size_t low = left.sample;
        // The value from before goes on into the column, unless one begins right at its edge.
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
