#include "model/bandwidth/copyCharts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "model/summary/Statistics.h"

namespace lanescope {

namespace {

constexpr double logarithmicFrom = 30;
constexpr int mostPlaces = 1 << 14;

/// How far the copies of a chart reach. Looked up first, and the copies visited once more after:
/// keeping ten million of them would take more memory than the trace.
struct Extent {
    std::vector<CopyGroup> groups;
    RateExtent rates;
    int64_t leastBytes = 0, mostBytes = 0, count = 0;
};

Extent extentOf(const CopyIndex& index, const CopyIndex::Query& query) {
    Extent all;
    index.visitRated(query, all.groups, [&all](const CopyPoint& point) {
        const bool isFirst = all.count++ == 0;
        const double rate = point.gigabytesPerSecond;
        all.rates.leastGBps = isFirst ? rate : std::min(all.rates.leastGBps, rate);
        all.rates.mostGBps = std::max(all.rates.mostGBps, rate);
        all.leastBytes = isFirst ? point.bytes : std::min(all.leastBytes, point.bytes);
        all.mostBytes = std::max(all.mostBytes, point.bytes);
    });
    return all;
}

/// The place of `share` in [0, 1] among `count` of them.
int placeOf(double share, int count) {
    return std::clamp(static_cast<int>(share * count), 0, count - 1);
}

double logarithmicShare(double value, double least, double most) {
    if (!(least > 0) || most <= least) return 0;
    return std::log(value / least) / std::log(most / least);
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
    if (isEmpty()) return 0;
    return isLogarithmic() ? logarithmicShare(gigabytesPerSecond, leastGBps, mostGBps)
                           : gigabytesPerSecond / mostGBps;
}

CopyCells copyCells(const CopyIndex& index, const CopyIndex::Query& query, const CopyGrid& grid) {
    Extent all = extentOf(index, query);
    const TimeRange range = query.range.value_or(index.trace().range);
    const int columns = std::clamp(grid.columns, 1, mostPlaces);
    const int rows = std::clamp(grid.rows, 1, mostPlaces);
    const auto columnOf = [&](const CopyPoint& point) {
        const double share = grid.across == CopyAxis::Time
                                 ? shareOfTime(point.startNs, range)
                                 : logarithmicShare(static_cast<double>(point.bytes),
                                                    static_cast<double>(all.leastBytes),
                                                    static_cast<double>(all.mostBytes));
        return placeOf(share, columns);
    };
    std::unordered_map<uint64_t, CopyCell> found;
    index.visitRated(query, all.groups, [&](const CopyPoint& point) {
        const auto row =
            static_cast<uint64_t>(placeOf(all.rates.shareOf(point.gigabytesPerSecond), rows));
        const uint64_t key =
            (uint64_t{point.group} << 32) | (static_cast<uint64_t>(columnOf(point)) << 16) | row;
        CopyCell& cell = found[key];
        if (cell.count == 0 || isLarger(point, cell.largest)) cell.largest = point;
        ++cell.count;
    });
    std::vector<std::pair<uint64_t, CopyCell>> sorted(found.begin(), found.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    CopyCells result;
    result.groups = std::move(all.groups);
    result.rates = all.rates;
    result.leastBytes = all.leastBytes;
    result.mostBytes = all.mostBytes;
    result.copyCount = all.count;
    result.cells.reserve(sorted.size());
    for (const auto& [key, cell] : sorted) result.cells.push_back(cell);
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
    std::map<std::pair<int, uint32_t>, RateBin> found;
    index.visitRated(query, result.groups, [&](const CopyPoint& point) {
        const int place = placeOf(all.rates.shareOf(point.gigabytesPerSecond), result.binCount);
        RateBin& bin = found[{place, point.group}];
        if (bin.count == 0 || isLarger(point, bin.largest)) bin.largest = point;
        bin.group = point.group;
        bin.bin = place;
        ++bin.count;
        bin.bytes = saturatingSum(bin.bytes, point.bytes);
    });
    for (const auto& [key, bin] : found) result.bins.push_back(bin);
    return result;
}

}  // namespace lanescope
