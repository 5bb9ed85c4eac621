// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Column.h"
#include "model/trace/EventRef.h"

namespace lanescope {

/// What the values of a counter are.
enum class CounterUnit : uint8_t {
    Count,
    Bytes,
    BytesPerSecond,
    Percent,
    Watts,
    Celsius,
    Hertz,
    Joules,
    Flags,  ///< A set of bits, each with a meaning of its own.
};

/// "1.50 GiB", "12.3 GB/s", "98.7 %", "1,234", "412 W", "1.98 GHz"; "unknown" for what is not a
/// number.
std::string formatCounter(double value, CounterUnit unit);

/// Least and greatest value that a counter had in one pixel column; empty where it had none.
struct CounterColumn {
    bool hasValue = false;
    double minimum = 0;
    double maximum = 0;
    bool operator==(const CounterColumn&) const = default;
};

/// A quantity over time: memory in use, bytes a second through a link, utilization. A value holds
/// from its time until that of the next, the last until the end of the series. Immutable once
/// built; any thread.
class CounterSeries {
  public:
    std::string name;  ///< "Device memory".
    /// What it is for programs, "nvlink.tx"; empty for what is computed from other events.
    std::string key;
    std::string source;  ///< Who sampled it: "nvml", "gpm", "pm", "host"; empty for nobody.
    CounterUnit unit = CounterUnit::Count;
    /// Each value is a mean over what happened while it holds; else it was so when it was read.
    bool isMeanOfInterval = false;
    uint32_t gpu = noIndex;      ///< Which GPU it is about, if it is about one.
    uint32_t process = noIndex;  ///< Whose it is; `noIndex` if it is the machine's.
    int32_t link = -1;           ///< Number of the NVLink it is about, if it is about one.
    int32_t core = -1;           ///< Number of the processor core, if it is about one.
    std::string device;          ///< Disk or network interface, if it is about one.
    int64_t intervalNs = 0;      ///< How often it was sampled, on average; 0 if unknown.

    /// Takes values in order of time; of several at one time the last counts. A value that is not a
    /// number means that nothing is known from there on. The series ends at `endNs`, at the
    /// earliest with its last value. Lies where the times do. O(n).
    void set(const LargeVector<int64_t>& timesNs, const LargeVector<double>& values, int64_t endNs);

    uint32_t size() const { return static_cast<uint32_t>(timesNs_.size()); }
    bool isEmpty() const { return timesNs_.empty(); }
    int64_t timeNs(uint32_t sample) const { return timesNs_[sample]; }
    double value(uint32_t sample) const { return values_[sample]; }
    /// How long value number `sample` held.
    TimeRange rangeOf(uint32_t sample) const;
    int64_t endNs() const { return endNs_; }
    /// Whether any value is known. O(log n).
    bool hasValue() const { return extremesOf(0, timesNs_.size()).hasValue; }
    /// Over all times; 0 for a series without values.
    double minimum() const { return minimum_; }
    double maximum() const { return maximum_; }

    /// The sample in force at `timeNs`; nothing before the first, after the end, or where it is not
    /// known. O(log n).
    std::optional<uint32_t> sampleAt(int64_t timeNs) const;
    /// The sample whose beginning is nearest to `timeNs`. The series must not be empty. O(log n).
    uint32_t nearestSample(int64_t timeNs) const;
    /// Least and greatest value in force within `range`; no value where there is none. O(log n).
    CounterColumn extremesIn(TimeRange range) const;
    /// The same for each of `pixelWidth` columns, even of what held for a nanosecond only; where
    /// they hold many values, in its column or in the one left of it. O(pixels); where values are
    /// bunched, O(pixels * log n).
    std::vector<CounterColumn> extremesAt(TimeRange range, int pixelWidth) const;

    /// The values in groups of `groupSize`, which is `leastGroup` on the first level and `fanOut`
    /// times as many on each next: where each group begins, and the least and the greatest of it,
    /// not a number where there is none.
    struct Level {
        Level() = default;
        explicit Level(LargeMemory* memory) : timesNs(memory), least(memory), greatest(memory) {}

        Column<int64_t> timesNs;
        Column<double> least, greatest;
    };
    static constexpr size_t leastGroup = 16;
    static constexpr size_t fanOut = 4;
    const std::vector<Level>& levels() const { return levels_; }

    /// What the index stores beside the members above; see `model/index`.
    template <class Self, class Visitor>
    static void forEachOwnField(Self& self, Visitor& visit) {
        visit(self.timesNs_);
        visit(self.values_);
        visit(self.endNs_);
        visit(self.minimum_);
        visit(self.maximum_);
        visit(self.levels_);
    }
    /// Whether the parts fit together, as they must.
    bool isSound() const;

  private:
    friend class CounterPicture;
    CounterColumn extremesOf(size_t low, size_t high) const;
    void addLevel(size_t group, const Column<int64_t>& timesNs, const Column<double>& least,
                  const Column<double>& greatest);

    Column<int64_t> timesNs_;  ///< Strictly ascending.
    Column<double> values_;
    int64_t endNs_ = 0;
    double minimum_ = 0;
    double maximum_ = 0;
    std::vector<Level> levels_;
};

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
