// SPDX-License-Identifier: Apache-2.0
#include "model/fleet/FleetReport.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "model/analysis/storedSummary.h"
#include "model/format/ReadWatch.h"
#include "model/format/TimeRange.h"
#include "model/format/files.h"
#include "model/format/parseNumber.h"
#include "model/format/text.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::fleet {

namespace fs = std::filesystem;

namespace {

constexpr size_t maxSampledValues = 1 << 18;

/// Returns some of the known values, evenly chosen, sorted.
std::vector<float> sampleOf(const FleetReport& report, Measure measure, bool isSigned) {
    const size_t cells = report.ranks.size() * report.steps.size();
    const size_t every = cells / maxSampledValues + 1;
    std::vector<float> values;
    for (size_t cell = 0; cell < cells; cell += every) {
        const float value = report.valueOf(measure, cell / report.steps.size(), cell % report.steps.size());
        if (!std::isnan(value)) values.push_back(isSigned ? std::abs(value) : value);
    }
    std::ranges::sort(values);
    return values;
}

float quantile(const std::vector<float>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

constexpr size_t maxRanks = 1 << 17, maxSteps = 1 << 20, maxLines = 1000, maxTextBytes = 4096;
constexpr size_t maxNumbers = 1 << 22;  // of ranks in all findings
constexpr int64_t rowsBetweenChecks = 1 << 16;

/// Returns true if a shell would run only `lanescope` with it: users paste it into one.
bool isPlainCommand(std::string_view command) {
    constexpr std::string_view plain = " /._-+,=:@%", program = "lanescope ";
    bool isQuoted = false;
    for (const char each : command) {
        const auto byte = static_cast<unsigned char>(each);
        if (each == '\'')
            isQuoted = !isQuoted;
        else if (byte < ' ' ||
                 (!isQuoted && std::isalnum(byte) == 0 && byte < 0x80 && plain.find(each) == std::string_view::npos))
            return false;
    }
    return !isQuoted && command.starts_with(program);
}

std::optional<int64_t> integerOf(const Statement& row, int column) {
    const CellView cell = row.cell(column);
    if (cell.type != CellType::Integer) return std::nullopt;
    return cell.bits;
}

/// Parses "16,17,3" into at most `most` numbers; removes the parsed part from `text`.
std::vector<int64_t> numbersOf(std::string_view& text, size_t most) {
    std::vector<int64_t> numbers;
    while (!text.empty() && numbers.size() < most) {
        const auto number = parseNumber<int64_t>(takeUntil(text, ','));
        if (number && *number >= 0) numbers.push_back(*number);
    }
    return numbers;
}

/// Returns true if a name leads to a file in a folder or below it, and nowhere else.
bool isBelow(const fs::path& name) {
    if (name.empty() || name.is_absolute()) return false;
    return std::ranges::none_of(name, [](const fs::path& part) { return part == ".." || part.empty(); });
}

std::optional<fs::path> existing(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) ? std::optional(path) : std::nullopt;
}

/// Also finds packed files, and files without the folders of the recording machine.
std::optional<fs::path> findTrace(const fs::path& folder, const fs::path& name) {
    if (folder.empty()) return std::nullopt;
    for (const fs::path& each : {folder / name, folder / name.filename()}) {
        if (auto found = existing(each)) return found;
        if (auto found = existing(each.string() + ".gz")) return found;
    }
    return std::nullopt;
}

/// Returns true if the file is of another run than the report: the process or the start differs. False if the trace has
/// neither. A trace with several attempts of a rank, as after an elastic restart, is the report's if one is.
bool isOfAnotherRun(const fs::path& file, const ReportRank& rank) {
    const auto summary = analysis::readRunSummary(file);
    if (!summary) return false;
    if (rank.traceStartUtcNs && summary->facts.startUtcNs > 0 && summary->facts.startUtcNs != *rank.traceStartUtcNs)
        return true;
    if (!rank.pid) return false;
    const auto isOfRank = [&rank](const analysis::WorkerSummary& worker) {
        return worker.rank && *worker.rank == rank.rank;
    };
    const auto isOfProcess = [&](const analysis::WorkerSummary& worker) {
        return isOfRank(worker) && worker.pid == *rank.pid;
    };
    return std::ranges::any_of(summary->workers, isOfRank) && std::ranges::none_of(summary->workers, isOfProcess);
}

/// Returns the folder named in the report, wherever the program runs.
fs::path folderInReport(const FleetReport& report) {
    return (fs::absolute(report.path).parent_path() / report.folder).lexically_normal();
}

}  // namespace

std::string name(Measure measure) {
    return std::string(
        enumText(measure, {"own time against its role", "own time", "waiting and communication", "time of the step",
                           "kernels", "exposed copies", "waiting for the next batch", "GPU idle for its CPU"}));
}

float FleetReport::valueOf(Measure measure, size_t row, size_t column) const {
    const size_t cell = row * steps.size() + column;
    switch (measure) {
        case Measure::Late: return against_[cell];
        case Measure::OwnTime: return wall_[cell] - communication_[cell];
        case Measure::Waiting: return communication_[cell];
        case Measure::Time: return wall_[cell];
        case Measure::Compute: return compute_[cell];
        case Measure::Copies: return copies_[cell];
        case Measure::Loading: return loading_[cell];
        case Measure::Launching: break;
    }
    const float rest = wall_[cell] - communication_[cell] - compute_[cell] - copies_[cell] - loading_[cell];
    return std::isnan(rest) ? rest : std::max(rest, 0.0F);
}

float FleetReport::lateNs(size_t row, size_t column) const {
    const float against = valueOf(Measure::Late, row, column);
    return against <= -1 ? unknown : valueOf(Measure::OwnTime, row, column) * against / (1 + against);
}

std::optional<size_t> FleetReport::rowOf(int64_t rank) const {
    const auto found = std::ranges::lower_bound(ranks, rank, {}, &ReportRank::rank);
    if (found == ranks.end() || found->rank != rank) return std::nullopt;
    return static_cast<size_t>(found - ranks.begin());
}

std::pair<size_t, size_t> FleetReport::columnsOf(StepRange range) const {
    const auto first = std::ranges::lower_bound(steps, range.first);
    const auto end = std::upper_bound(first, steps.end(), range.last);
    return {static_cast<size_t>(first - steps.begin()), static_cast<size_t>(end - steps.begin())};
}

float MapScale::shareOf(float value) const {
    if (std::isnan(value)) return value;
    if (high <= low) return 0;
    if (low < 0) return std::clamp(value / static_cast<float>(high), -1.0F, 1.0F);
    return std::clamp(static_cast<float>((value - low) / (high - low)), 0.0F, 1.0F);
}

MapScale scaleOf(const FleetReport& report, Measure measure) {
    constexpr double strongestQuantile = 0.995, spreads = 6, least = 0.02, most = 0.25;
    const bool isSigned = measure == Measure::Late;
    const std::vector<float> values = sampleOf(report, measure, isSigned);
    if (values.empty()) return {};
    if (isSigned) {
        // From a median absolute deviation to a standard deviation.
        const double spread = 1.4826 * quantile(values, 0.5);
        const double full = std::clamp(std::max(spreads * spread, double{quantile(values, 0.99)}), least, most);
        return {-full, full};
    }
    MapScale scale{quantile(values, 0.005), quantile(values, strongestQuantile)};
    if (scale.high <= scale.low) scale = {values.front(), values.back()};
    return scale;
}

OrderedRows ordered(const FleetReport& report, RowOrder order) {
    OrderedRows made;
    made.rows.resize(report.ranks.size());
    std::iota(made.rows.begin(), made.rows.end(), 0U);
    if (order == RowOrder::Rank) return made;
    const auto of = [&report](uint32_t row) -> const ReportRank& { return report.ranks[row]; };
    const auto label = [&](uint32_t row) -> const std::string& {
        return order == RowOrder::Machine ? of(row).machine : of(row).role;
    };
    std::ranges::stable_sort(made.rows, [&](uint32_t a, uint32_t b) {
        if (order == RowOrder::Lost) return of(a).lostNs > of(b).lostNs;
        return label(a) < label(b);
    });
    for (size_t place = 0; order != RowOrder::Lost && place < made.rows.size(); ++place) {
        const std::string& text = label(made.rows[place]);
        if (made.groups.empty() || made.groups.back().label != text) made.groups.push_back({text, place, 0});
        ++made.groups.back().count;
    }
    return made;
}

TellingPart tellingPart(const ReportFinding& finding) {
    TellingPart part{finding.shownRanks.empty() ? finding.ranks : finding.shownRanks, finding.steps};
    if (part.ranks.size() > maxShownRanks) part.ranks.resize(maxShownRanks);
    if (part.steps && part.steps->last - part.steps->first >= maxShownSteps)
        part.steps->last = part.steps->first + maxShownSteps - 1;
    return part;
}

Measure measureOf(const ReportFinding& finding) {
    if (finding.kind == "link") return Measure::Waiting;
    if (finding.kind != "rank" && finding.kind != "host") return Measure::Late;
    if (finding.what == "copies") return Measure::Copies;
    if (finding.what == "loading") return Measure::Loading;
    return finding.what == "launching" ? Measure::Launching : Measure::Late;
}

std::optional<TellingPart> tellingPart(const FleetReport& report) {
    for (const ReportFinding& finding : report.findings)
        if (const TellingPart part = tellingPart(finding);
            std::ranges::any_of(part.ranks, [&](int64_t rank) { return report.rowOf(rank).has_value(); }))
            return part;
    return std::nullopt;
}

class ReportReader {
  public:
    ReportReader(Database database, const fs::path& path, const LoadProgress& progress)
        : database_(std::move(database)), progress_(progress) {
        report_->path = path;
    }

    Result<FleetReportPtr> read() {
        for (const auto step : {&ReportReader::check, &ReportReader::readRanks, &ReportReader::readNumbers,
                                &ReportReader::readCells, &ReportReader::readFindings, &ReportReader::readNotes})
            if (Result<void> done = (this->*step)(); !done) return fail(done.error());
        if (const auto trouble = database_.trouble()) return fail(*trouble);
        sum();
        addNote(shortened_, "lists or texts", "are too long and were truncated");
        addNote(skipped_, "invalid values", "were skipped");
        return FleetReportPtr(std::move(report_));
    }

  private:
    void addNote(uint64_t count, std::string_view what, std::string_view fate) {
        if (count > 0)
            report_->notes.push_back(fmt::format("{} {} of {} {}.", formatCount(static_cast<int64_t>(count)), what,
                                                 report_->path.filename().string(), fate));
    }

    std::string shown() const { return report_->path.string(); }

    Result<void> check() {
        if (database_.pragma("application_id") != int64_t{fleetReportId})
            return fail("{}: not a report of lanescope fleet.", shown());
        if (database_.hasTable("roles") && !database_.hasTable("steps"))
            return fail(
                "{}: compares two jobs and has no steps of ranks to show. Read its tables with any program for SQLite.",
                shown());
        for (const char* table : {"ranks", "steps", "findings"})
            if (!database_.hasTable(table))
                return fail(
                    "{}: the table {} is missing, so it cannot be shown. Create the report again with lanescope fleet.",
                    shown(), table);
        if (!database_.hasColumn("ranks", "lost_ns"))
            return fail(
                "{}: written by an earlier version, without the losses of each rank. Create the report again with "
                "lanescope fleet.",
                shown());
        // A generated value may have any size.
        for (const char* table : {"ranks", "steps", "findings", "notes", "broken", "job"})
            for (const Database::Column& column : database_.columns(table))
                if (!column.isStored)
                    return fail(
                        "The table {} of {} has columns that lanescope fleet does not write, so it cannot be shown. "
                        "Create the report again with lanescope fleet.",
                        table, shown());
        return {};
    }

    std::string textOf(const Statement& row, int column) {
        const CellView cell = row.cell(column);
        if (cell.type != CellType::Text) return {};
        shortened_ += cell.text.size() > maxTextBytes ? 1 : 0;
        return printable(cell.text.substr(0, maxTextBytes));
    }

    /// Returns true if a list of this size may take another row; else counts the row as omitted.
    bool hasRoom(const auto& list, size_t most) {
        if (list.size() < most) return true;
        ++shortened_;
        return false;
    }

    /// Passes each row of a fixed query to `take`, until it returns false.
    Result<void> forEachRow(std::string_view sql, std::string_view what, double from, double to, auto take) {
        auto row = database_.prepare(sql);
        if (!row) return fail(row.error());
        for (int64_t number = 0;; ++number) {
            const Result<bool> next = row->step();
            if (!next) return fail(next.error());
            if (!*next || !take(*row)) return {};
            if (number % rowsBetweenChecks != 0 || !progress_) continue;
            const double share = std::min(1.0, static_cast<double>(number) / static_cast<double>(expected_ + 1));
            if (!progress_(from + share * (to - from), what)) return fail("{}: reading was cancelled.", shown());
        }
    }

    /// For a table in reports of earlier versions.
    const char* columnOrNone(const char* table, const char* column) const {
        return database_.hasColumn(table, column) ? column : "NULL";
    }

    Result<void> readRanks() {
        std::set<int64_t> seen;
        return forEachRow(fmt::format("SELECT rank, machine, role, gpu_name, trace, local_rank, gpu, ended_abnormally, "
                                      "pid, lost_ns, {} FROM ranks",
                                      columnOrNone("ranks", "trace_start_utc_ns")),
                          "ranks", 0, 0.02, [&](const Statement& row) {
                              if (!hasRoom(seen, maxRanks)) return false;
                              const auto number = integerOf(row, 0);
                              if (!number || *number < 0 || *number > std::numeric_limits<int>::max() ||
                                  !seen.insert(*number).second) {
                                  ++skipped_;
                                  return true;
                              }
                              ReportRank& rank = report_->ranks.emplace_back();
                              rank.rank = *number;
                              rank.machine = textOf(row, 1);
                              rank.role = textOf(row, 2);
                              rank.gpuName = textOf(row, 3);
                              rank.trace = textOf(row, 4);
                              rank.localRank = integerOf(row, 5);
                              rank.gpu = integerOf(row, 6);
                              rank.endedAbnormally = integerOf(row, 7).value_or(0) != 0;
                              rank.pid = integerOf(row, 8);
                              rank.lostNs = static_cast<double>(
                                  std::clamp(integerOf(row, 9).value_or(0), -maxTimestampNs, maxTimestampNs));
                              rank.traceStartUtcNs = integerOf(row, 10);
                              return true;
                          });
    }

    Result<void> readNumbers() {
        std::ranges::sort(report_->ranks, {}, &ReportRank::rank);
        std::unordered_set<int64_t> numbers;
        auto read = forEachRow("SELECT step FROM steps", "numbers of steps", 0.02, 0.2, [&](const Statement& row) {
            ++expected_;
            if (const auto step = integerOf(row, 0)) numbers.insert(*step);
            return numbers.size() <= maxSteps;
        });
        if (!read) return read;
        report_->steps.assign(numbers.begin(), numbers.end());
        std::ranges::sort(report_->steps);
        const size_t ranks = report_->ranks.size(), steps = report_->steps.size();
        if (ranks == 0 || steps == 0) return fail("{}: no rank has steps, nothing to show.", shown());
        if (steps > maxSteps || ranks > maxCells / steps)
            return fail(
                "{}: {} ranks and {} steps or more are too many for a map of {} cells. Create a report of fewer ranks "
                "or steps.",
                shown(), formatCount(static_cast<int64_t>(ranks)), formatCount(static_cast<int64_t>(steps)),
                formatCount(static_cast<int64_t>(maxCells)));
        return {};
    }

    /// A cell with an invalid time is unknown.
    float timeOf(const Statement& row, int column) {
        const auto ns = integerOf(row, column);
        if (ns && *ns >= 0 && *ns <= maxTimestampNs) return static_cast<float>(*ns);
        ++skipped_;
        return unknown;
    }

    Result<void> readCells() {
        const size_t columns = report_->steps.size(), cells = report_->ranks.size() * columns;
        const std::vector<std::vector<float>*> times{&report_->wall_, &report_->communication_, &report_->compute_,
                                                     &report_->copies_, &report_->loading_};
        for (std::vector<float>* each : times) each->assign(cells, unknown);
        report_->against_.assign(cells, unknown);
        return forEachRow(
            "SELECT rank, step, wall_ns, communication_ns, compute_ns, copies_ns, loading_ns, against_role FROM steps",
            "steps", 0.2, 0.98, [&](const Statement& row) {
                const auto rank = integerOf(row, 0), step = integerOf(row, 1);
                const auto place = rank ? report_->rowOf(*rank) : std::nullopt;
                // A corrupt index may have returned other steps than the table has.
                const auto [column, end] =
                    step ? report_->columnsOf(StepRange{*step, *step}) : std::pair<size_t, size_t>();
                if (!place || column == end) {
                    ++skipped_;
                    return true;
                }
                const size_t cell = *place * columns + column;
                for (size_t each = 0; each < times.size(); ++each)
                    (*times[each])[cell] = timeOf(row, static_cast<int>(2 + each));
                const CellView share = row.cell(7);
                if (share.type == CellType::Real || share.type == CellType::Integer) {
                    const double value = share.type == CellType::Real ? std::bit_cast<double>(share.bits)
                                                                      : static_cast<double>(share.bits);
                    if (value > -1 && value < 1e6)
                        report_->against_[cell] = static_cast<float>(value);
                    else
                        ++skipped_;
                }
                return true;
            });
    }

    std::vector<int64_t> ranksOf(const Statement& row, int column) {
        std::string_view text = row.text(column);
        std::vector<int64_t> ranks = numbersOf(text, std::min(maxRanks, numbersLeft_));
        shortened_ += text.empty() ? 0 : 1;
        numbersLeft_ -= ranks.size();
        return ranks;
    }

    Result<void> readFindings() {
        return forEachRow(fmt::format("SELECT kind, what, ranks, first_step, last_step, lost_ns, sentence, command, {} "
                                      "FROM findings ORDER BY place",
                                      columnOrNone("findings", "shown_ranks")),
                          "findings", 0.98, 0.99, [&](const Statement& row) {
                              if (!hasRoom(report_->findings, maxLines)) return false;
                              ReportFinding& made = report_->findings.emplace_back();
                              made.kind = textOf(row, 0);
                              made.what = textOf(row, 1);
                              made.ranks = ranksOf(row, 2);
                              const auto first = integerOf(row, 3), last = integerOf(row, 4);
                              if (first && last && *first >= 0 && *last >= *first)
                                  made.steps = StepRange{*first, *last};
                              made.lostNs = std::clamp<int64_t>(integerOf(row, 5).value_or(0), 0, maxTimestampNs);
                              made.sentence = textOf(row, 6);
                              if (std::string command = textOf(row, 7); isPlainCommand(command))
                                  made.command = std::move(command);
                              made.shownRanks = ranksOf(row, 8);
                              return true;
                          });
    }

    Result<void> readNotes() {
        const auto take = [&](const Statement& row) {
            if (!hasRoom(report_->notes, maxLines)) return false;
            report_->notes.push_back(textOf(row, 0));
            return true;
        };
        for (const char* table : {"notes", "broken"}) {
            if (!database_.hasTable(table)) continue;
            auto done = forEachRow(fmt::format("SELECT sentence FROM {}", table), "notes", 0.99, 1, take);
            if (!done) return done;
        }
        if (!database_.hasTable("job")) return {};
        return forEachRow("SELECT folder FROM job", "notes", 0.99, 1, [&](const Statement& row) {
            report_->folder = textOf(row, 0);
            return false;
        });
    }

    void sum() {
        std::vector<float> walls;
        for (const float wall : report_->wall_)
            if (!std::isnan(wall)) walls.push_back(wall);
        if (!walls.empty()) report_->medianStepNs_ = upperMedianOf(std::move(walls));
    }

    Database database_;
    const LoadProgress& progress_;
    std::shared_ptr<FleetReport> report_ = std::make_shared<FleetReport>();
    int64_t expected_ = 0;  ///< Rows of the table of steps.
    uint64_t skipped_ = 0, shortened_ = 0;
    size_t numbersLeft_ = maxNumbers;
};

bool isFleetReport(const fs::path& path) {
    const Result<UniqueFd> file = openRegularFile(path);
    std::array<unsigned char, sqliteHeaderBytes> header{};
    return file && ::pread(*file, header.data(), header.size(), 0) == std::ssize(header) &&
           applicationIdOf(header) == fleetReportId;
}

Result<FleetReportPtr> readFleetReport(const fs::path& path, const LoadProgress& progress) {
    if (const Result<void> sound = checkSqliteHeader(path); !sound) return fail(sound.error());
    return orOutOfMemory(path, [&]() -> Result<FleetReportPtr> {
        Result<Database> database = Database::openReadOnly(path);
        if (!database) return fail(database.error());
        return readFleetReport(std::move(*database), path, progress);
    });
}

Result<FleetReportPtr> readFleetReport(Database database, const fs::path& path, const LoadProgress& progress) {
    return ReportReader(std::move(database), path, progress).read();
}

std::optional<fs::path> folderElsewhere(const FleetReport& report) {
    if (report.folder.empty()) return std::nullopt;
    const fs::path own = fs::absolute(report.path).parent_path().lexically_normal();
    const fs::path said = folderInReport(report);
    const auto [end, rest] = std::mismatch(own.begin(), own.end(), said.begin(), said.end());
    // A folder that ends with a separator has an empty part at its end.
    return end == own.end() || (std::next(end) == own.end() && end->empty()) ? std::nullopt : std::optional(said);
}

Result<std::vector<fs::path>> tracesOf(const FleetReport& report, const std::vector<size_t>& rows,
                                       const fs::path& chosen) {
    std::vector<fs::path> files;
    for (const size_t row : rows) {
        const ReportRank& rank = report.ranks[row];
        const fs::path name = rank.trace;
        if (!isBelow(name))
            return fail("{}: no trace of rank {} in its folder or subfolders.", report.path.filename().string(),
                        rank.rank);
        std::vector<fs::path> folders{chosen};
        if (chosen.empty()) {
            folders = {fs::absolute(report.path).parent_path()};
            if (!report.folder.empty() && !folderElsewhere(report)) folders.push_back(folderInReport(report));
        }
        std::optional<fs::path> found;
        for (const fs::path& folder : folders)
            if (!found) found = findTrace(folder, name);
        if (!found)
            return fail(
                "{0}, the trace of rank {1}, is not in {2}. Choose the folder of the traces, or extract the steps "
                "where the traces are.",
                rank.trace, rank.rank, folders.back().string());
        if (isOfAnotherRun(*found, rank))
            return fail("{} belongs to another run than {}. Choose the folder with the traces of this run.",
                        found->string(), report.path.filename().string());
        if (std::ranges::find(files, *found) == files.end()) files.push_back(*found);
    }
    return files;
}

}  // namespace lanescope::fleet
