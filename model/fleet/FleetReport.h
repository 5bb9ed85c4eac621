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

/// What nobody measured.
inline constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

/// What a map of ranks and steps tells.
enum class Measure : uint8_t {
    Late,       ///< What a rank does itself, more than the median of its role, as a share of that.
    OwnTime,    ///< Without waiting for others and moving data with them; nanoseconds, as the rest.
    Waiting,    ///< The rest: waiting for others, and moving data with them.
    Time,       ///< The whole step.
    Compute,    ///< Of its own time: kernels and memsets.
    Copies,     ///< Copies that nothing hides.
    Loading,    ///< Waiting for the next batch.
    Launching,  ///< The GPU idles for its CPU.
};
inline constexpr size_t measureCount = 8;
/// "own time", "waiting for other ranks".
std::string name(Measure measure);

/// A rank of a job, as a report of `lanescope fleet` has it.
struct ReportRank {
    int64_t rank = 0;  ///< As large as an `int` at most.
    std::string machine, role, gpuName;
    std::string trace;  ///< Name of its trace, in the folder of the report or below; may be empty.
    std::optional<int64_t> localRank, gpu;
    bool endedAbnormally = false;
    /// Of its process, and when its trace began, since 1970: by these it is told from other runs.
    std::optional<int64_t> pid, traceStartUtcNs;
    /// How much longer it took itself in all steps than the median rank of its role, of what each
    /// takes more than the median of its role in each step; as the report says.
    double lostNs = 0;
};

/// Something that costs time or should not be.
struct ReportFinding {
    std::string kind, what, sentence;
    std::string command;  ///< One of `lanescope` that does nothing else; empty for any other.
    std::vector<int64_t> ranks;
    std::vector<int64_t> shownRanks;  ///< Ranks that show it beside each other, its own among them.
    std::optional<StepRange> steps;   ///< That show it most.
    int64_t lostNs = 0;               ///< 0 if nobody can say.
};

/// A report of `lanescope fleet`, read as a file that nobody vouches for: texts are cut and of one
/// line, numbers that make no sense are not there. Immutable; any thread.
class FleetReport {
  public:
    std::filesystem::path path;
    std::string folder;             ///< Where the summaries of the ranks lay; may be empty.
    std::vector<ReportRank> ranks;  ///< By number; their places are the rows of cells.
    std::vector<int64_t> steps;     ///< Numbers, ascending; their places are the columns of cells.
    std::vector<ReportFinding> findings;  ///< Worst first.
    std::vector<std::string> notes;       ///< What else there is to say, and what was left out.

    /// Not a number where nothing is known. O(1).
    float valueOf(Measure measure, size_t row, size_t column) const;
    /// How much longer the rank took itself in the step than the median of its role, ns.
    float lateNs(size_t row, size_t column) const;
    /// The row of a rank; nothing if it is not there. O(log n).
    std::optional<size_t> rowOf(int64_t rank) const;
    /// The columns of steps, first and one past the last; both equal if there are none. O(log n).
    std::pair<size_t, size_t> columnsOf(StepRange steps) const;
    /// The median step over all ranks, ns; 0 without any.
    double usualStepNs() const { return usualStepNs_; }

  private:
    friend class ReportReader;
    // Of each rank all steps after each other.
    std::vector<float> wall_, communication_, compute_, copies_, loading_, against_;
    double usualStepNs_ = 0;
};
using FleetReportPtr = std::shared_ptr<const FleetReport>;

/// What the colours of a map mean: from `low`, faintest, to `high`, strongest. Of `Late` from as
/// much less to as much more.
struct MapScale {
    double low = 0, high = 0;
    /// In [0, 1], of `Late` in [-1, 1]; not a number where the value is none.
    float shareOf(float value) const;
};
/// Such that what ranks differ by anyhow stays faint and what stands out does not. O(cells).
MapScale scaleOf(const FleetReport& report, Measure measure);

/// In which order ranks stand in a map.
enum class RowOrder : uint8_t { Machine, Role, Lost, Rank };
/// Rows that stand beside each other for one reason.
struct RowGroup {
    std::string label;
    size_t first = 0, count = 0;  ///< Places in the order.
};
struct OrderedRows {
    std::vector<uint32_t> rows;
    std::vector<RowGroup> groups;  ///< None where there is nothing to tell of neighbours.
};
/// O(n log n).
OrderedRows ordered(const FleetReport& report, RowOrder order);

/// In which measure a finding shows.
Measure measureOf(const ReportFinding& finding);

/// Ranks and steps to open, chosen by the findings: those that show the first of them that has any
/// beside each other. Nothing without one.
struct TellingPart {
    std::vector<int64_t> ranks;
    std::optional<StepRange> steps;
};
/// At most `mostShown` ranks and `mostShownSteps` steps.
TellingPart tellingPart(const ReportFinding& finding);
std::optional<TellingPart> tellingPart(const FleetReport& report);
inline constexpr size_t mostShown = 8;
inline constexpr int64_t mostShownSteps = 8;

/// Where the report says that the traces lie, if that is neither the report's own folder nor below
/// it: who opened it did not mean that one, and is asked. Looks at no file.
std::optional<std::filesystem::path> folderElsewhere(const FleetReport& report);

/// The trace files of these rows, each once: in `chosen` if it is not empty, else beside the
/// report, else where it says, if that is below it. A report may name files of its folder alone.
/// Fails with the first that is not there, and with the first that says to be of another run than
/// the report is. Reads what traces say of themselves; any thread.
Result<std::vector<std::filesystem::path>> tracesOf(const FleetReport& report,
                                                    const std::vector<size_t>& rows,
                                                    const std::filesystem::path& chosen = {});

/// Whether a file says in its first bytes that it is of `lanescope fleet`.
bool isFleetReport(const std::filesystem::path& path);

/// How many cells, ranks by steps, a report that is read may have; 24 bytes are kept of each.
inline constexpr size_t mostCells = size_t{1} << 23;

/// Reads a report. Errors, a sentence each: no report, one of two jobs, a table that is missing or
/// none, more cells than `mostCells`, damage, cancelled. What single cells hold that cannot be is
/// left out and counted in the notes. O(cells); blocks.
Result<FleetReportPtr> readFleetReport(const std::filesystem::path& path,
                                       const LoadProgress& progress = {});

/// The same of a file that is open; errors call it `path`.
Result<FleetReportPtr> readFleetReport(Database database, const std::filesystem::path& path,
                                       const LoadProgress& progress = {});

}  // namespace lanescope::fleet
