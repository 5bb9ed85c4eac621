// SPDX-License-Identifier: Apache-2.0
// Where the traces of a report's ranks lie.
#include <algorithm>
#include <system_error>

#include "model/compare/storedSummary.h"
#include "model/fleet/FleetReport.h"

namespace lanescope::fleet {

namespace fs = std::filesystem;

namespace {

/// Whether a name leads to a file of a folder or below it, and nowhere else.
bool isBelow(const fs::path& name) {
    if (name.empty() || name.is_absolute()) return false;
    return std::none_of(name.begin(), name.end(),
                        [](const fs::path& part) { return part == ".." || part.empty(); });
}

std::optional<fs::path> existing(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) ? std::optional(path) : std::nullopt;
}

/// Also packed, and without the folders that were there where it was recorded.
std::optional<fs::path> findTrace(const fs::path& folder, const fs::path& name) {
    if (folder.empty()) return std::nullopt;
    for (const fs::path& each : {folder / name, folder / name.filename()}) {
        if (auto found = existing(each)) return found;
        if (auto found = existing(each.string() + ".gz")) return found;
    }
    return std::nullopt;
}

/// Whether the file says to be of another run than the report is: the process of the rank, or the
/// beginning, is another. Of a trace that tells neither nobody can say. One that has several
/// attempts of a rank, as after an elastic restart, is the report's if one of them is.
bool isOfAnotherRun(const fs::path& file, const ReportRank& rank) {
    const auto summary = compare::readRunSummary(file);
    if (!summary) return false;
    if (rank.traceStartUtcNs && summary->facts.startUtcNs > 0 &&
        summary->facts.startUtcNs != *rank.traceStartUtcNs)
        return true;
    if (!rank.pid) return false;
    const auto isOfRank = [&rank](const compare::WorkerSummary& worker) {
        return worker.rank && *worker.rank == rank.rank;
    };
    const auto isOfProcess = [&](const compare::WorkerSummary& worker) {
        return isOfRank(worker) && worker.pid == *rank.pid;
    };
    return std::ranges::any_of(summary->workers, isOfRank) &&
           std::ranges::none_of(summary->workers, isOfProcess);
}

/// The folder that the report says, wherever the program runs.
fs::path saidFolder(const FleetReport& report) {
    return (fs::absolute(report.path).parent_path() / report.folder).lexically_normal();
}

}  // namespace

std::optional<fs::path> folderElsewhere(const FleetReport& report) {
    if (report.folder.empty()) return std::nullopt;
    const fs::path own = fs::absolute(report.path).parent_path().lexically_normal();
    const fs::path said = saidFolder(report);
    const auto [end, rest] = std::mismatch(own.begin(), own.end(), said.begin(), said.end());
    // A folder that ends with a separator has an empty part at its end.
    return end == own.end() || (std::next(end) == own.end() && end->empty()) ? std::nullopt
                                                                             : std::optional(said);
}

Result<std::vector<fs::path>> tracesOf(const FleetReport& report, const std::vector<size_t>& rows,
                                       const fs::path& chosen) {
    std::vector<fs::path> files;
    for (const size_t row : rows) {
        const ReportRank& rank = report.ranks[row];
        const fs::path name = rank.trace;
        if (!isBelow(name))
            return fail("{} names no trace of rank {} that lies in its folder or below.",
                        report.path.filename().string(), rank.rank);
        std::vector<fs::path> folders{chosen};
        if (chosen.empty()) {
            folders = {fs::absolute(report.path).parent_path()};
            if (!report.folder.empty() && !folderElsewhere(report))
                folders.push_back(saidFolder(report));
        }
        std::optional<fs::path> found;
        for (const fs::path& folder : folders)
            if (!found) found = findTrace(folder, name);
        if (!found)
            return fail(
                "{}, the trace of rank {}, is not in {}: choose the folder that the traces lie in, "
                "or cut it out where they lie.",
                rank.trace, rank.rank, folders.back().string());
        if (isOfAnotherRun(*found, rank))
            return fail(
                "{} is of another run than {}: choose the folder that the traces of this run lie "
                "in.",
                found->string(), report.path.filename().string());
        if (std::find(files.begin(), files.end(), *found) == files.end()) files.push_back(*found);
    }
    return files;
}

}  // namespace lanescope::fleet
