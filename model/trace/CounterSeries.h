// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"

namespace lanescope {

enum class CounterUnit : uint8_t {
    Count,
    Bytes,
    BytesPerSecond,
    Percent,
    Watts,
    Celsius,
    Hertz,
    Joules,
    Flags,  ///< Set of bits, each with its own meaning.
};

/// Returns the abbreviation in files: "B", "B/s", "%", "W", "C", "Hz", "J", "flags", "count".
std::string_view identifier(CounterUnit unit);

/// Returns "1.50 GiB", "12.3 GB/s", "98.7 %", "1,234", "412 W", "1.98 GHz"; "unknown" for NaN.
std::string formatCounter(double value, CounterUnit unit);

/// Minimum and maximum of a counter within a pixel column; empty if it had no value.
struct CounterColumn {
    bool hasValue = false;
    double minimum = 0;
    double maximum = 0;
    bool operator==(const CounterColumn&) const = default;
};

/// Quantity over time, such as memory in use, bytes per second through a link, utilization. A value is in effect until
/// the next one, the last until the end of the series. Immutable once built; any thread.
class CounterSeries {
  public:
    std::string name;  ///< "Device memory".
    /// Identifier for programs, such as "nvlink.tx"; empty if computed from other events.
    std::string key;
    std::string source;  ///< Sampler: "nvml", "gpm", "pm", "host"; empty if none.
    CounterUnit unit = CounterUnit::Count;
    /// True if each value is the mean of its interval, false if it is a momentary reading.
    bool isMeanOfInterval = false;
    uint32_t gpu = noIndex;      ///< `noIndex` if it is not about a GPU.
    uint32_t process = noIndex;  ///< `noIndex` if it is about the machine.
    int32_t link = -1;           ///< Number of the NVLink; -1 if none.
    int32_t core = -1;           ///< Number of the processor core; -1 if none.
    std::string device;          ///< Disk or network interface; empty if none.
    int64_t intervalNs = 0;      ///< Mean sampling interval; 0 if unknown.

    /// Sets the values in order of time; of several at the same time the last one counts. NaN means unknown from there
    /// on. The series ends at `endNs`, or with its last value if later. Uses the memory of `timesNs`. O(n).
    void set(const LargeVector<int64_t>& timesNs, const LargeVector<double>& values, int64_t endNs);

    uint32_t size() const { return static_cast<uint32_t>(timesNs_.size()); }
    bool isEmpty() const { return timesNs_.empty(); }
    int64_t timeNs(uint32_t sample) const { return timesNs_[sample]; }
    double value(uint32_t sample) const { return values_[sample]; }
    /// Returns the interval in which value number `sample` was in effect.
    TimeRange rangeOf(uint32_t sample) const;
    int64_t endNs() const { return endNs_; }
    /// Returns true if any value is known. O(log n).
    bool hasValue() const { return extremesOf(0, timesNs_.size()).hasValue; }
    /// Over all times; 0 for a series without values.
    double minimum() const { return minimum_; }
    double maximum() const { return maximum_; }

    /// Returns the sample in effect at `timeNs`; nullopt before the first, after the end, or if unknown. O(log n).
    std::optional<uint32_t> sampleAt(int64_t timeNs) const;
    /// Returns the sample that begins nearest to `timeNs`. The series must not be empty. O(log n).
    uint32_t nearestSample(int64_t timeNs) const;
    /// Returns minimum and maximum in effect within `range`, if any. O(log n).
    CounterColumn extremesIn(TimeRange range) const;
    /// Returns the extremes of each of `pixelWidth` columns, including values of a nanosecond. In
    /// columns of many values, an extreme may appear in its column or the one to the left.
    /// O(pixels), or O(pixels * log n) for clustered values.
    std::vector<CounterColumn> extremesAt(TimeRange range, int pixelWidth) const;

    /// Values in groups of `groupSize`, which is `minGroupSize` on the first level and `fanOut` times larger on each
    /// further level. Each group has its beginning, minimum and maximum; NaN if it has no value.
    struct Level {
        Level() = default;
        explicit Level(LargeMemory* memory) : timesNs(memory), minValue(memory), maxValue(memory) {}

        Column<int64_t> timesNs;
        Column<double> minValue, maxValue;
    };
    static constexpr size_t minGroupSize = 16;
    static constexpr size_t fanOut = 4;
    const std::vector<Level>& levels() const { return levels_; }

    /// Visits the private members that the index stores; see `model/index`.
    static void forEachOwnField(auto& self, auto& visit) {
        visit(self.timesNs_);
        visit(self.values_);
        visit(self.endNs_);
        visit(self.minimum_);
        visit(self.maximum_);
        visit(self.levels_);
    }
    /// Returns true if the members are consistent.
    bool isSound() const;

  private:
    friend class CounterPicture;
    CounterColumn extremesOf(size_t low, size_t high) const;
    void addLevel(size_t group, const Column<int64_t>& timesNs, const Column<double>& minValue,
                  const Column<double>& maxValue);

    Column<int64_t> timesNs_;  ///< Strictly ascending.
    Column<double> values_;
    int64_t endNs_ = 0;
    double minimum_ = 0;
    double maximum_ = 0;
    std::vector<Level> levels_;
};

/// Draws a range of a counter from the coarsest groups of samples that suffice for the columns, so
/// that a long series costs no more than a short one. The series must outlive it.
class CounterPicture {
  public:
    /// Range, series and columns must not be empty.
    CounterPicture(const CounterSeries& series, TimeRange range, int columnCount);

    /// Returns the columns of `CounterSeries::extremesAt`. Call once.
    std::vector<CounterColumn> columns();

  private:
    /// End of a column among the samples. It is moved right to the beginning of the next group if
    /// that is near, so that no single sample is read.
    struct Edge {
        size_t sample = 0;  ///< First sample right of the edge.
        bool isMoved = false;
    };

    static size_t groupSize(size_t level);
    void chooseGroups();
    void decode(const Column<int64_t>& timesNs, const Column<double>& minValue, const Column<double>& maxValue,
                size_t first, size_t end);
    /// Returns the edge at `timeNs`, which must not decrease between calls, at or right of sample `from`.
    Edge edgeAt(int64_t timeNs, size_t from, int64_t toleranceNs);
    CounterColumn extremesOf(size_t low, size_t high) const;

    const CounterSeries& series_;
    TimeRange range_;
    int columnCount_;
    size_t group_ = 1;       ///< Samples per group.
    size_t firstGroup_ = 0;  ///< Number of the first group below within the series.
    std::vector<int64_t> timesNs_;
    std::vector<double> minValues_, maxValues_;
    size_t next_ = 0;  ///< First of the groups above that is not before the last edge.
};

}  // namespace lanescope
