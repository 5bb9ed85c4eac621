// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"
#include "model/format/optionValues.h"

namespace lanescope::fleet {

/// A value that was not measured.
inline constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

/// Quantity of a map of ranks and steps.
enum class Measure : uint8_t {
    Late,       ///< A rank's own time beyond the median of its role, as a share of that.
    OwnTime,    ///< Without waiting for others and exchanging data with them; nanoseconds, as the rest.
    Waiting,    ///< The rest: waiting for others, and exchanging data with them.
    Time,       ///< The whole step.
    Compute,    ///< Part of its own time: kernels and memsets.
    Copies,     ///< Copies that are not overlapped.
    Loading,    ///< Waiting for the next batch.
    Launching,  ///< The GPU idles waiting for its CPU.
};
inline constexpr size_t measureCount = 8;
/// "own time", "waiting for other ranks".
std::string name(Measure measure);

/// A rank of a job in a report of `lanescope fleet`.
struct ReportRank {
    int64_t rank = 0;  ///< At most as large as an `int`.
    std::string machine, role, gpuName;
    std::string trace;  ///< Name of its trace, in the folder of the report or below; may be empty.
    std::optional<int64_t> localRank, gpu;
    bool endedAbnormally = false;
    /// PID of its process, and start of its trace since 1970, to distinguish it from other runs.
    std::optional<int64_t> pid, traceStartUtcNs;
    /// Own time beyond its role's median of each step, relative to the median rank of the role; as in the report.
    double lostNs = 0;
};

/// A problem that costs time, or is unexpected.
struct ReportFinding {
    std::string kind, what, sentence;
    std::string command;  ///< A command of `lanescope` alone; empty for any other.
    std::vector<int64_t> ranks;
    std::vector<int64_t> shownRanks;  ///< Ranks that show it side by side, including its own.
    std::optional<StepRange> steps;   ///< Steps that show it most.
    int64_t lostNs = 0;               ///< 0 if unknown.
};

/// A report of `lanescope fleet`, an untrusted file: texts have one line, invalid numbers are missing. Immutable.
class FleetReport {
  public:
    std::filesystem::path path;
    std::string folder;                   ///< Folder of the ranks' summaries; may be empty.
    std::vector<ReportRank> ranks;        ///< By number; their indices are the rows of cells.
    std::vector<int64_t> steps;           ///< Numbers, ascending; their indices are the columns of cells.
    std::vector<ReportFinding> findings;  ///< Worst first.
    std::vector<std::string> notes;       ///< Further notes, and omissions.

    /// Returns NaN if unknown. O(1).
    float valueOf(Measure measure, size_t row, size_t column) const;
    /// Returns the rank's own time in the step beyond the median of its role, in ns.
    float lateNs(size_t row, size_t column) const;
    /// Returns the row of a rank; nullopt if missing. O(log n).
    std::optional<size_t> rowOf(int64_t rank) const;
    /// Returns the columns of steps, first and one past the last; equal if there are none. O(log n).
    std::pair<size_t, size_t> columnsOf(StepRange steps) const;
    /// Returns the median step over all ranks, in ns; 0 without any.
    double medianStepNs() const { return medianStepNs_; }

  private:
    friend class ReportReader;
    // All steps of each rank in sequence.
    std::vector<float> wall_, communication_, compute_, copies_, loading_, against_;
    double medianStepNs_ = 0;
};
using FleetReportPtr = std::shared_ptr<const FleetReport>;

/// Colour scale of a map: from `low`, faintest, to `high`, strongest. For `Late` symmetric about 0.
struct MapScale {
    double low = 0, high = 0;
    /// Returns a value in [0, 1], for `Late` in [-1, 1]; NaN for NaN.
    float shareOf(float value) const;
};
/// Returns a scale on which normal differences of ranks are faint and outliers are not. O(cells).
MapScale scaleOf(const FleetReport& report, Measure measure);

/// Order of the ranks in a map.
enum class RowOrder : uint8_t { Machine, Role, Lost, Rank };
/// Adjacent rows with a common property.
struct RowGroup {
    std::string label;
    size_t first = 0, count = 0;  ///< Indices in the order.
};
struct OrderedRows {
    std::vector<uint32_t> rows;
    std::vector<RowGroup> groups;  ///< Empty if neighbours have nothing in common.
};
/// O(n log n).
OrderedRows ordered(const FleetReport& report, RowOrder order);

Measure measureOf(const ReportFinding& finding);

/// Ranks and steps to open: those of the first finding that has any to show side by side. Empty without one.
struct TellingPart {
    std::vector<int64_t> ranks;
    std::optional<StepRange> steps;
};
/// Returns at most `maxShownRanks` ranks and `maxShownSteps` steps.
TellingPart tellingPart(const ReportFinding& finding);
std::optional<TellingPart> tellingPart(const FleetReport& report);
inline constexpr size_t maxShownRanks = 8;
inline constexpr int64_t maxShownSteps = 8;

/// Returns the report's folder of traces if outside of its own folder: the user must confirm it. Accesses no file.
std::optional<std::filesystem::path> folderElsewhere(const FleetReport& report);

/// Returns the trace files of these rows, each once: in `chosen` if it is not empty, else in the folder of the report,
/// else in the folder named there, if that is below it. A report may name files of its folder only. Fails for the first
/// missing file, and for the first of another run than the report's. Reads facts of the traces; any thread.
Result<std::vector<std::filesystem::path>> tracesOf(const FleetReport& report, const std::vector<size_t>& rows,
                                                    const std::filesystem::path& chosen = {});

/// Returns true if the first bytes of a file are those of a report of `lanescope fleet`.
bool isFleetReport(const std::filesystem::path& path);

/// Maximum number of cells, ranks by steps, of a report; each takes 24 bytes.
inline constexpr size_t maxCells = size_t{1} << 23;

/// Reads a report. Fails if there is no report, if it is of two jobs, if a table is missing or invalid, for more than
/// `maxCells` cells, if corrupt or cancelled. Invalid cells are omitted and counted in the notes. O(cells); blocks.
Result<FleetReportPtr> readFleetReport(const std::filesystem::path& path, const LoadProgress& progress = {});

/// Reads the report from an open file; errors call it `path`.
Result<FleetReportPtr> readFleetReport(Database database, const std::filesystem::path& path,
                                       const LoadProgress& progress = {});

}  // namespace lanescope::fleet
