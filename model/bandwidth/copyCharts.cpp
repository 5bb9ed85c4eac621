// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/copyCharts.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

constexpr double logarithmicFrom = 30;
constexpr int maxPlaces = 1 << 11;

/// Range of a chart's copies, found in a first pass: keeping ten million copies would take more memory than the trace.
struct Extent {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int64_t minBytes = 0, maxBytes = 0, count = 0;
};

Extent extentOf(const CopyIndex& index, const CopyIndex::Query& query) {
    Extent all;
    index.visitRated(query, all.groups, [&all](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            const bool isFirst = all.count++ == 0;
            const double rate = point.gigabytesPerSecond;
            all.rates.minGBps = isFirst ? rate : std::min(all.rates.minGBps, rate);
            all.rates.maxGBps = std::max(all.rates.maxGBps, rate);
            all.minBytes = isFirst ? point.bytes : std::min(all.minBytes, point.bytes);
            all.maxBytes = std::max(all.maxBytes, point.bytes);
        }
    });
    return all;
}

/// Returns the position of `share` in [0, 1] among `count`.
int placeOf(double share, int count) { return std::clamp(static_cast<int>(share * count), 0, count - 1); }

/// Maps values to the interval from the minimum (0) to the maximum (1).
class Scale {
  public:
    Scale(double least, double most, bool isLogarithmic)
        : min_(least), whole_(isLogarithmic ? std::log(most / least) : most), isLogarithmic_(isLogarithmic) {}
    double shareOf(double value) const {
        if (!(whole_ > 0)) return 0;
        return isLogarithmic_ ? std::log(value / min_) / whole_ : value / whole_;
    }

  private:
    double min_, whole_;
    bool isLogarithmic_;
};

Scale scaleOf(const RateExtent& rates) { return {rates.minGBps, rates.maxGBps, rates.isLogarithmic()}; }

double shareOfTime(int64_t timeNs, const TimeRange& range) {
    if (range.endNs <= range.startNs || timeNs <= range.startNs) return 0;
    const auto distance = [&](int64_t to) {
        return static_cast<double>(static_cast<uint64_t>(to) - static_cast<uint64_t>(range.startNs));
    };
    return distance(timeNs) / distance(range.endNs);
}

bool isLarger(const CopyPoint& a, const CopyPoint& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.startNs < b.startNs;
}

}  // namespace

bool RateExtent::isLogarithmic() const { return minGBps > 0 && maxGBps / minGBps > logarithmicFrom; }

double RateExtent::shareOf(double gigabytesPerSecond) const { return scaleOf(*this).shareOf(gigabytesPerSecond); }

CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid) {
    Extent all = extentOf(index, query);
    const TimeRange range = query.range.value_or(index.trace().range);
    const int columns = std::clamp(grid.columns, 1, maxPlaces);
    const int rows = std::clamp(grid.rows, 1, maxPlaces);
    const Scale rates = scaleOf(all.rates);
    const Scale sizes(static_cast<double>(all.minBytes), static_cast<double>(all.maxBytes), all.minBytes > 0);
    const auto columnOf = [&](const CopyPoint& point) {
        const double share = grid.across == CopyAxis::Time ? shareOfTime(point.startNs, range)
                                                           : sizes.shareOf(static_cast<double>(point.bytes));
        return placeOf(share, columns);
    };
    // For each group that has any, by column and row: its index in `cells`, from 1.
    std::vector<std::vector<uint32_t>> numbers(all.groups.size());
    std::vector<CopyCell> cells;
    index.visitRated(query, all.groups, [&](std::span<const CopyPoint> points) {
        for (const CopyPoint& point : points) {
            std::vector<uint32_t>& plane = numbers[point.group];
            if (plane.empty()) plane.resize(static_cast<size_t>(columns) * static_cast<size_t>(rows));
            const auto row = static_cast<size_t>(placeOf(rates.shareOf(point.gigabytesPerSecond), rows));
            uint32_t& number = plane[static_cast<size_t>(columnOf(point)) * static_cast<size_t>(rows) + row];
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
    result.minBytes = all.minBytes;
    result.maxBytes = all.maxBytes;
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
    if (!rates.isLogarithmic()) return rates.maxGBps * share;
    return rates.minGBps * std::pow(rates.maxGBps / rates.minGBps, share);
}

RateHistogram rateHistogram(const CopyIndex& index, const CopyIndex::Query& query, int binCount) {
    Extent all = extentOf(index, query);
    RateHistogram result;
    result.rates = all.rates;
    result.binCount = std::clamp(binCount, 1, maxPlaces);
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
