// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/copyCharts.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

constexpr double logarithmicFrom = 30;
constexpr int mostPlaces = 1 << 11;

/// How far the copies of a chart reach. Looked up first, and the copies visited once more after:
/// keeping ten million of them would take more memory than the trace.
struct Extent {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int64_t leastBytes = 0, mostBytes = 0, count = 0;
};

Extent extentOf(const CopyIndex& index, const CopyIndex::Query& query) {
    Extent all;
    index.visitRated(query, all.groups, [&all](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            const bool isFirst = all.count++ == 0;
            const double rate = point.gigabytesPerSecond;
            all.rates.leastGBps = isFirst ? rate : std::min(all.rates.leastGBps, rate);
            all.rates.mostGBps = std::max(all.rates.mostGBps, rate);
            all.leastBytes = isFirst ? point.bytes : std::min(all.leastBytes, point.bytes);
            all.mostBytes = std::max(all.mostBytes, point.bytes);
        }
    });
    return all;
}

/// The place of `share` in [0, 1] among `count` of them.
int placeOf(double share, int count) {
    return std::clamp(static_cast<int>(share * count), 0, count - 1);
}

/// Where values stand between the least (0) and the greatest (1) of them.
class Scale {
  public:
    Scale(double least, double most, bool isLogarithmic)
        : least_(least),
          whole_(isLogarithmic ? std::log(most / least) : most),
          isLogarithmic_(isLogarithmic) {}
    double shareOf(double value) const {
        if (!(whole_ > 0)) return 0;
        return isLogarithmic_ ? std::log(value / least_) / whole_ : value / whole_;
    }

  private:
    double least_, whole_;
    bool isLogarithmic_;
};

Scale scaleOf(const RateExtent& rates) {
    return {rates.leastGBps, rates.mostGBps, rates.isLogarithmic()};
}

double shareOfTime(int64_t timeNs, const TimeRange& range) {
    if (range.endNs <= range.startNs || timeNs <= range.startNs) return 0;
    const auto distance = [&](int64_t to) {
        return static_cast<double>(static_cast<uint64_t>(to) -
                                   static_cast<uint64_t>(range.startNs));
    };
    return distance(timeNs) / distance(range.endNs);
}

bool isLarger(const CopyPoint& a, const CopyPoint& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.startNs < b.startNs;
}

}  // namespace

bool RateExtent::isLogarithmic() const {
    return leastGBps > 0 && mostGBps / leastGBps > logarithmicFrom;
}

double RateExtent::shareOf(double gigabytesPerSecond) const {
    return scaleOf(*this).shareOf(gigabytesPerSecond);
}

CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid) {
    Extent all = extentOf(index, query);
    const TimeRange range = query.range.value_or(index.trace().range);
    const int columns = std::clamp(grid.columns, 1, mostPlaces);
    const int rows = std::clamp(grid.rows, 1, mostPlaces);
    const Scale rates = scaleOf(all.rates);
    const Scale sizes(static_cast<double>(all.leastBytes), static_cast<double>(all.mostBytes),
                      all.leastBytes > 0);
    const auto columnOf = [&](const CopyPoint& point) {
        const double share = grid.across == CopyAxis::Time
                                 ? shareOfTime(point.startNs, range)
                                 : sizes.shareOf(static_cast<double>(point.bytes));
        return placeOf(share, columns);
    };
    // Of each group that has any, by column and row: which of `cells` it is, counted from 1.
    std::vector<std::vector<uint32_t>> numbers(all.groups.size());
    std::vector<CopyCell> cells;
    index.visitRated(query, all.groups, [&](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            std::vector<uint32_t>& plane = numbers[point.group];
            if (plane.empty())
                plane.resize(static_cast<size_t>(columns) * static_cast<size_t>(rows));
            const auto row =
                static_cast<size_t>(placeOf(rates.shareOf(point.gigabytesPerSecond), rows));
            uint32_t& number =
                plane[static_cast<size_t>(columnOf(point)) * static_cast<size_t>(rows) + row];
            if (number == 0) {
                cells.push_back({point, 1});
                number = static_cast<uint32_t>(cells.size());
                continue;
            }
            CopyCell& cell = cells[number - 1];
            if (isLarger(point, cell.largest)) cell.largest = point;
            ++cell.count;
        }
    });
    CopyCells result;
    result.groups = std::move(all.groups);
    result.rates = all.rates;
    result.leastBytes = all.leastBytes;
    result.mostBytes = all.mostBytes;
    result.copyCount = all.count;
    result.cells.reserve(cells.size());
    for (const std::vector<uint32_t>& plane : numbers)
        for (const uint32_t number : plane)
            if (number > 0) result.cells.push_back(cells[number - 1]);
    return result;
}

double RateHistogram::binStart(int bin) const {
    if (binCount <= 0 || rates.isEmpty()) return 0;
    const double share = static_cast<double>(bin) / binCount;
    if (!rates.isLogarithmic()) return rates.mostGBps * share;
    return rates.leastGBps * std::pow(rates.mostGBps / rates.leastGBps, share);
}

RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount) {
    Extent all = extentOf(index, query);
    RateHistogram result;
    result.rates = all.rates;
    result.binCount = std::clamp(binCount, 1, mostPlaces);
    const size_t groupCount = all.groups.size();
    const Scale rates = scaleOf(all.rates);
    std::vector<RateBin> bins(groupCount * static_cast<size_t>(result.binCount));
    index.visitRated(query, result.groups, [&](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            const int place = placeOf(rates.shareOf(point.gigabytesPerSecond), result.binCount);
            RateBin& bin = bins[static_cast<size_t>(place) * groupCount + point.group];
            if (bin.count == 0 || isLarger(point, bin.largest)) bin.largest = point;
            bin.group = point.group;
            bin.bin = place;
            ++bin.count;
            bin.bytes = saturatingSum(bin.bytes, point.bytes);
        }
    });
    for (const RateBin& bin : bins)
        if (bin.count > 0) result.bins.push_back(bin);
    return result;
}

}  // namespace lanescope
