// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"

namespace lanescope::explain {

/// A step of a worker, by their indices in a summary.
struct StepPlace {
    uint32_t worker = 0;
    uint32_t step = 0;
    bool operator==(const StepPlace&) const = default;
};

/// The steps of a run as a grid: a row per worker, a column per step number. Immutable; does not refer to the summary.
class StepGrid {
  public:
    StepGrid() = default;
    /// O(n log n) in the steps.
    explicit StepGrid(const analysis::RunSummary& run);

    size_t rowCount() const { return rows_.size(); }
    size_t columnCount() const { return numbers_.size(); }
    bool isEmpty() const { return rows_.empty() || numbers_.empty(); }
    /// Returns the index into `RunSummary::workers`.
    uint32_t workerOf(size_t row) const { return rows_[row].worker; }
    /// Returns the row of a worker; `rowCount()` if it has none.
    size_t rowOf(uint32_t worker) const;
    /// Returns the step number of a column.
    int64_t numberOf(size_t column) const { return numbers_[column]; }
    /// Returns the column of a number; `columnCount()` if there is none.
    size_t columnOf(int64_t number) const;

    /// Returns the step of a worker with that number; nullopt if it has none. O(log n).
    std::optional<StepPlace> at(size_t row, size_t column) const;
    /// Returns the column of a row's longest step among `count` columns from `first` on, for a
    /// pixel that covers all of them; nullopt if the row has none there. O(log n + count).
    std::optional<size_t> longestIn(size_t row, size_t first, size_t count) const;
    /// Returns true for an outlier of its worker (`WorkerSummary::outliers`).
    bool isOdd(size_t row, size_t column) const;

    int64_t longestNs() const { return longestNs_; }  ///< Returns the longest step of all.
    size_t slowestColumn() const { return slowestColumn_; }
    size_t slowestRow() const { return slowestRow_; }
    int64_t medianNs(size_t row) const { return rows_[row].medianNs; }

    /// Returns the columns of a row's steps in a time: first and one past the last; equal if there are none. O(log n).
    std::pair<size_t, size_t> columnsIn(size_t row, TimeRange range) const;

  private:
    /// One step of a row.
    struct Entry {
        size_t column = 0;
        uint32_t step = 0;
        int64_t startNs = 0, wallNs = 0;
    };
    // Entries instead of a cell per column: in a corrupt file workers may have no number in common.
    struct Row {
        uint32_t worker = 0;
        std::vector<Entry> entries;  ///< By column.
        std::vector<size_t> odd;     ///< Columns, ascending.
        int64_t medianNs = 0;
    };
    static std::vector<Entry>::const_iterator firstFrom(const Row& row, size_t column);

    std::vector<int64_t> numbers_;
    std::vector<Row> rows_;
    int64_t longestNs_ = 0;
    size_t slowestRow_ = 0, slowestColumn_ = 0;
};

/// Returns the parts with time, longest first.
std::vector<analysis::StepPart> partsBySize(const analysis::StepParts& parts);

/// Difference of a step from the median step of its worker.
struct StepExcess {
    int64_t ns = 0;                                         ///< Negative for a shorter step.
    analysis::StepPart part = analysis::StepPart::Compute;  ///< The part that differs most in the same direction.
    int64_t partNs = 0;                                     ///< Its difference from its own median.
};
/// O(steps of the worker).
StepExcess excessOf(const analysis::RunSummary& run, StepPlace place);

/// All steps of all workers as a table: time, largest part, lateness, and all parts, largest of the run first.
struct StepsTable {
    ReportTable table;
    std::vector<StepPlace> places;  ///< Of each row.
    size_t partsColumn = 0;         ///< The column with the largest part of each step.
};
/// Returns the longest steps first; at most `maxStepRows`, then a note has their number. The rank
/// that a step waits for is late by the excess of the longest wait over its own. O(n log n).
StepsTable stepsTable(const analysis::RunSummary& run);
inline constexpr size_t maxStepRows = 100'000;

/// Quantity of each step in a map of ranks and steps.
struct LensMeasure {
    enum class Kind : uint8_t {
        OwnTime,  ///< Without waiting for ranks and exposed communication; shows the late ranks.
        Time,     ///< Time of the whole step, shared by ranks that wait for each other.
        Part,
    };
    Kind kind = Kind::OwnTime;
    analysis::StepPart part = analysis::StepPart::Compute;  ///< For `Part`.
    bool operator==(const LensMeasure&) const = default;
};

/// "time not spent waiting", "time", "exposed HtoD copies".
std::string name(const LensMeasure& measure);
/// Nanoseconds.
int64_t valueOf(const analysis::StepSummary& step, const LensMeasure& measure);
/// Returns own time, time, and each part that any step has, largest of the run first. O(steps).
std::vector<LensMeasure> measuresOf(const analysis::RunSummary& run);

/// Values of a map's faintest and strongest colour: the minimum, and the 99 % quantile, because of single stalls.
struct LensScale {
    int64_t lowNs = 0, highNs = 0;
    /// In [0, 1].
    double shareOf(int64_t ns) const;
};
/// O(steps).
LensScale scaleOf(const analysis::RunSummary& run, const LensMeasure& measure);

/// Returns the initial range of a timeline: a few consecutive steps of the worker that the others wait for, as near to
/// its median step as possible, the earliest of equals. Nullopt if the run has no steps, or only itself. O(steps).
std::optional<TimeRange> steadySteps(const analysis::RunSummary& run);
inline constexpr size_t steadyStepCount = 5;

}  // namespace lanescope::explain
