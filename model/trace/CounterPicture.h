// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/CounterSeries.h"

namespace lanescope {

/// Draws one range of a counter: from groups of samples as large as do for so many columns, so that
/// the whole of a long series takes no more than a short one. The series must outlive it.
class CounterPicture {
  public:
    /// The range must not be empty, nor the series; at least one column.
    CounterPicture(const CounterSeries& series, TimeRange range, int columnCount);

    /// See `CounterSeries::extremesAt`. To be asked once.
    std::vector<CounterColumn> columns();

  private:
    /// Where a column ends among the samples. It moves to the right, to where the next group
    /// begins, if that is near: then no sample of its own is looked at.
    struct Edge {
        size_t sample = 0;  ///< The first right of it.
        bool isMoved = false;
    };

    static size_t groupSize(size_t level);
    void chooseGroups();
    void decode(const Column<int64_t>& timesNs, const Column<double>& least,
                const Column<double>& greatest, size_t first, size_t end);
    /// The edge at `timeNs`, not less than asked for before, and not left of sample `from`.
    Edge edgeAt(int64_t timeNs, size_t from, int64_t toleranceNs);
    CounterColumn extremesOf(size_t low, size_t high) const;

    const CounterSeries& series_;
    TimeRange range_;
    int columnCount_;
    size_t group_ = 1;       ///< How many samples a group holds.
    size_t firstGroup_ = 0;  ///< Of those below, number within the series.
    std::vector<int64_t> timesNs_;
    std::vector<double> least_, greatest_;
    size_t next_ = 0;  ///< Of those above, the first not before the last edge.
};

}  // namespace lanescope
