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

/// A step of a worker, by their places in a summary.
struct StepPlace {
    uint32_t worker = 0;
    uint32_t step = 0;
    bool operator==(const StepPlace&) const = default;
};

/// The steps of all workers of a run beside each other: a row for each worker that has any, a
/// column for each number that a step has. Immutable; refers to no summary.
class StepGrid {
  public:
    StepGrid() = default;
    /// O(n log n) in the steps.
    explicit StepGrid(const analysis::RunSummary& run);

    size_t rowCount() const { return rows_.size(); }
    size_t columnCount() const { return numbers_.size(); }
    bool isEmpty() const { return rows_.empty() || numbers_.empty(); }
    /// Of `RunSummary::workers`.
    uint32_t workerOf(size_t row) const { return rows_[row].worker; }
    /// The row of a worker; `rowCount()` if it has none.
    size_t rowOf(uint32_t worker) const;
    /// How the steps of a column are numbered.
    int64_t numberOf(size_t column) const { return numbers_[column]; }
    /// The column of a number; `columnCount()` if there is none.
    size_t columnOf(int64_t number) const;

    /// The step of a worker with that number; nothing if it has none. O(log n).
    std::optional<StepPlace> at(size_t row, size_t column) const;
    /// Of a row, the longest step of `count` columns from `first` on: what a pixel shows that
    /// stands for all of them. Its column; nothing if the row has none there. O(log n + count).
    std::optional<size_t> longestIn(size_t row, size_t first, size_t count) const;
    /// Whether it takes far longer than the others of its worker (`WorkerSummary::outliers`).
    bool isOdd(size_t row, size_t column) const;

    int64_t longestNs() const { return longestNs_; }  ///< Of all steps.
    size_t slowestColumn() const { return slowestColumn_; }
    size_t slowestRow() const { return slowestRow_; }
    int64_t medianNs(size_t row) const { return rows_[row].medianNs; }

    /// The columns whose steps a row has in a time: first and one past the last; both equal if
    /// there are none. O(log n).
    std::pair<size_t, size_t> columnsIn(size_t row, TimeRange range) const;

  private:
    /// One step of a row.
    struct Entry {
        size_t column = 0;
        uint32_t step = 0;
        int64_t startNs = 0, wallNs = 0;
    };
    // Not a cell for each column: a damaged file may hold workers that have no number in common.
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

/// All steps of all workers as a table: time, parts, waiting and lateness.
struct StepsTable {
    ReportTable table;
    std::vector<StepPlace> places;  ///< Of each row.
};
/// Longest steps first; at most `mostStepRows`, and then a note says how many there are. The rank
/// that a step waits for is late by what the one that waits most waits longer. O(n log n).
StepsTable stepsTable(const analysis::RunSummary& run);
inline constexpr size_t mostStepRows = 100'000;

/// What a map of ranks and steps tells of each step.
struct LensMeasure {
    enum class Kind : uint8_t {
        OwnTime,  ///< Without waiting for ranks and exposed communication: who is late shows here.
        Time,     ///< Of the whole step, which ranks that wait for each other share.
        Part,
    };
    Kind kind = Kind::OwnTime;
    analysis::StepPart part = analysis::StepPart::Compute;  ///< If it is one.
    bool operator==(const LensMeasure&) const = default;
};

/// "own time", "time", "exposed HtoD copies".
std::string name(const LensMeasure& measure);
/// Nanoseconds.
int64_t valueOf(const analysis::StepSummary& step, const LensMeasure& measure);
/// Own time, time, and each part that any step has. O(steps).
std::vector<LensMeasure> measuresOf(const analysis::RunSummary& run);

/// From which value on a map is at its faintest and at its strongest: the least, and what one
/// value of a hundred exceeds, so that a single stall leaves the others apart.
struct LensScale {
    int64_t lowNs = 0, highNs = 0;
    /// In [0, 1].
    double shareOf(int64_t ns) const;
};
/// O(steps).
LensScale scaleOf(const analysis::RunSummary& run, const LensMeasure& measure);

/// What a timeline is to begin with: a few steps in a row of the worker that the others wait for,
/// as near to its median step as there are, the earliest of equals. Nothing if the run has no
/// steps, or only itself. O(steps).
std::optional<TimeRange> steadySteps(const analysis::RunSummary& run);
inline constexpr size_t steadyStepCount = 5;

}  // namespace lanescope::explain
