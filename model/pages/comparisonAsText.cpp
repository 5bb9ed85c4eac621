// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/compare/ComparisonTable.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/TextGrid.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope::report {

// The tables of the text report, each after an empty line and its heading; empty if there are no rows.

using namespace analysis;
using namespace compare;

namespace {

using Side = TextGrid::Side;

/// Width of range names before other columns, and if a line has no room for that.
constexpr size_t maxRangeColumns = 24, minRangeColumns = 12;
/// A longer name is truncated at the end of the terminal.
constexpr size_t maxNameColumns = 60;

bool isSingle(const ComparisonReport& report) { return report.candidates.size() == 1; }

/// Returns the columns with content; always the first and the last.
std::vector<size_t> columnsOf(const ComparisonTable& table) {
    std::vector<size_t> columns;
    for (size_t column = 0; column < table.columns.size(); ++column) {
        const bool isAtEdge = column == 0 || column + 1 == table.columns.size();
        const auto isFilled = [&](const auto& row) {
            const auto* text = std::get_if<std::string>(&row[column]);
            return !text || !text->empty();
        };
        if (isAtEdge || std::ranges::any_of(table.rows, isFilled)) columns.push_back(column);
    }
    return columns;
}

/// Lines above the rule of a table, from the top.
using Heads = std::vector<std::vector<std::string>>;

/// Returns the names of columns, with the units on a line below, or after the name if only one column has a unit.
Heads headsOf(const ComparisonTable& table, const std::vector<size_t>& columns) {
    std::vector<std::string> names, units;
    for (const size_t column : columns) {
        names.push_back(table.columns[column].name);
        units.emplace_back(table.unitOf(column));
    }
    const auto hasUnit = [](const std::string& unit) { return !unit.empty(); };
    if (std::ranges::count_if(units, hasUnit) > 1) return {names, units};
    if (const auto only = std::ranges::find_if(units, hasUnit); only != units.end())
        names[static_cast<size_t>(only - units.begin())] += fmt::format(" ({})", *only);
    return {names};
}

/// Returns the same with the last word of each name on a line of its own.
Heads inTwoLines(Heads heads) {
    std::vector<std::string> before(heads.front().size());
    for (size_t column = 0; column < before.size(); ++column) {
        std::string& name = heads.front()[column];
        const size_t space = name.rfind(' ');
        if (space == std::string::npos) continue;
        before[column] = name.substr(0, space);
        name.erase(0, space + 1);
    }
    heads.insert(heads.begin(), std::move(before));
    return heads;
}

struct GridStyle {
    bool hasSum = false;  ///< A rule precedes the last row.
    TextGrid::Overlong overlong = TextGrid::Overlong::Elide;
    size_t widest = maxRangeColumns;
};

TextGrid gridOf(const ComparisonTable& table, const std::vector<size_t>& columns, const Heads& heads, GridStyle style) {
    std::vector<Side> sides;
    for (const size_t column : columns)
        sides.push_back(table.columns[column].form == Form::Text ? Side::Left : Side::Right);
    TextGrid grid(sides);
    for (const std::vector<std::string>& head : heads) grid.add(head);
    grid.addRule();
    for (size_t row = 0; row < table.rows.size(); ++row) {
        if (style.hasSum && row + 1 == table.rows.size()) grid.addRule();
        std::vector<std::string> cells;
        for (const size_t column : columns) {
            std::string text = table.number(row, column);
            if (table.columns[column].form == Form::Text)
                text = printable(text);
            else if (text.empty())
                text = "-";
            const bool isLast = column + 1 == table.columns.size();
            cells.push_back(table.columns[column].field == Field::Range && !isLast ? elideMiddle(text, style.widest)
                                                                                   : text);
        }
        grid.add(std::move(cells), style.overlong);
    }
    return grid;
}

std::string gridText(const ComparisonTable& table, size_t width, GridStyle style = {}) {
    const std::vector<size_t> columns = columnsOf(table);
    const Heads heads = headsOf(table, columns);
    const TextGrid grid = gridOf(table, columns, heads, style);
    if (grid.fits(width)) return grid.text(width);
    TextGrid narrow = gridOf(table, columns, inTwoLines(heads), style);
    if (narrow.fits(width)) return narrow.text(width);
    style.widest = minRangeColumns;
    return gridOf(table, columns, inTwoLines(heads), style).text(width);
}

/// Starts with a kernel's known name if its name is long: when truncated, templates of one library are all the same.
std::string nameInTable(std::string_view name) {
    const std::string whole(withoutParameters(name));
    if (displayWidth(whole) <= maxNameColumns) return whole;
    const std::string known = knownKernelName(name);
    return known.empty() ? whole : fmt::format("{} · {}", known, whole);
}

std::string titleOf(const ComparisonRow& row) {
    std::string title = isIdle(*row.part) ? row.name : nameInTable(row.name);
    if (!row.formerName.empty()) title += fmt::format(" (was {})", nameInTable(row.formerName));
    if (row.match == MatchKind::OnlyBaseline) title = "(gone) " + title;
    if (row.match == MatchKind::OnlyCandidate) title = "(new) " + title;
    return isIdle(*row.part) || *row.part == StepPart::WaitingForRanks ? fmt::format("{}: {}", name(*row.part), title)
                                                                       : title;
}

/// Returns the parts of a step, every column with its sum.
std::string partsText(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = partRows(group.view);
    rows.push_back(stepRow(group.view));
    const std::vector<Field> ofCandidate = isSingle(report) ? std::vector{Field::Candidate, Field::Lost, Field::Change}
                                                            : std::vector{Field::Candidate, Field::Lost};
    ComparisonTable table = tableOf(group.view, rows, {{Field::Part}, {Field::Baseline}, ofCandidate}, Wording::Narrow);
    table.columns.front().name = "Mean step";
    return fmt::format("\nWhere the time of a step goes ({})\n\n", placeSentence(group.view)) +
           gridText(table, report.lineWidth, {.hasSum = true});
}

std::string contributorsText(const ComparisonReport& report, const ReportGroup& group, PartGroup parts) {
    std::vector<ComparisonRow> rows = contributorRows(group.view, parts);
    keepLargestChanges(rows, report.top, hasBandwidth(parts));
    if (rows.empty()) return {};
    // Causes of idle time are distinguished by the line of the program in their middle.
    const auto overlong = isIdle(*rows.front().part) ? TextGrid::Overlong::Wrap : TextGrid::Overlong::Elide;
    for (ComparisonRow& row : rows) row.name = titleOf(row);
    Layout layout{{Field::Lost}, {Field::Baseline}};
    if (isSingle(report)) layout.push_back({Field::Candidate});
    if (isSingle(report) && hasBandwidth(parts)) {
        layout.push_back({Field::BaselineRate});
        layout.push_back({Field::CandidateRate});
    }
    layout.push_back({Field::Range});
    layout.push_back({Field::Name});
    return fmt::format("\n{}: contribution to the mean step\n\n", name(parts)) +
           gridText(tableOf(group.view, rows, layout, Wording::Narrow), report.lineWidth, {.overlong = overlong});
}

std::string rangesText(const ComparisonReport& report, const ReportGroup& group) {
    std::vector<ComparisonRow> rows = rangeRows(group.view, false);
    keepLargestChanges(rows, report.top);
    if (rows.empty()) return {};
    Layout layout{{Field::Lost}, {Field::Baseline}};
    if (isSingle(report)) layout.push_back({Field::Candidate});
    layout.push_back({Field::Range});
    return "\nNVTX ranges: contribution to the mean step, by range of the host code\n\n" +
           gridText(tableOf(group.view, rows, layout, Wording::Narrow), report.lineWidth);
}

/// Returns contributors that only the baseline has, or only candidates.
std::string unmatchedText(const ComparisonReport& report, const ReportGroup& group, bool isOfBaseline) {
    const std::vector<ComparisonRow> rows = unmatchedRows(group.view, isOfBaseline);
    if (rows.empty()) return {};
    std::string text = isOfBaseline
                           ? "\nOnly in the baseline\n\n"
                           : fmt::format("\nOnly in {}\n\n", isSingle(report) ? "the candidate" : "candidates");
    const ComparisonTable table =
        tableOf(group.view, rows, {{Field::OnlyTotal}, {Field::Kind}, {Field::Name}}, Wording::Narrow);
    const size_t shown = report.top == 0 ? rows.size() : std::min(rows.size(), report.top);
    TextGrid grid({Side::Right, Side::Left, Side::Left});
    for (size_t row = 0; row < shown; ++row)
        grid.add({table.number(row, 0), table.number(row, 1), printable(nameInTable(rows[row].name))});
    text += grid.text(report.lineWidth);
    if (rows.size() > shown) text += fmt::format("... and {} more.\n", rows.size() - shown);
    return text;
}

std::string pathText(const ComparisonReport& report, const ReportGroup& group) {
    const ComparisonTable table = pathChangeTable(group.view.first(), report.top);
    if (!isSingle(report) || table.rows.empty()) return {};
    return "\nCritical path: changes of time per step\n\n" + gridText(table, report.lineWidth);
}

std::string outliersText(const ComparisonReport& report) {
    ComparisonTable table = outliersOf(report);
    if (table.rows.empty()) return {};
    // Column indices by available room; the contributor, which may be truncated, is last, after its part.
    constexpr size_t part = 6, contributor = 8;
    for (std::vector<Cell>& row : table.rows) {
        const auto& of = std::get<std::string>(row[part]);
        auto& mostly = std::get<std::string>(row[contributor]);
        mostly = mostly.empty() ? of : fmt::format("{}: {}", of, mostly);
    }
    return "\nSteps that stand out\n\n" + gridText(table.withColumns({0, 1, 2, 4, 5, contributor}), report.lineWidth);
}

/// Returns the quantities judged in addition to the step; empty for two runs.
std::string judgedText(const ComparisonReport& report) {
    std::string text;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const WorkerComparison* pair = report.candidates[index].comparison.criticalPair();
        if (!pair || pair->quantities.empty()) continue;
        text += fmt::format("\n{}Judged with the run as the unit, in addition to the whole step\n\n",
                            candidateMark(report, index)) +
                gridText(judgedTable(*pair), report.lineWidth);
    }
    return text;
}

/// Returns the median step of every worker, for runs with several.
std::string workersText(const ComparisonReport& report) {
    std::string text;
    for (size_t index = 0; index < report.candidates.size(); ++index) {
        const RunComparison& comparison = report.candidates[index].comparison;
        if (comparison.workers.size() < 2) continue;
        text += fmt::format("\n{}Median step of each rank or process\n\n", candidateMark(report, index)) +
                gridText(workerTable(comparison).withColumns({0, 1, 4, 5, 6, 7, 8}), report.lineWidth);
    }
    return text;
}

/// Number of candidates that fit side by side.
constexpr size_t candidatesAbreast = 3;
/// Width of a runs line without the name of the range, and without that of the file if it is shown below.
constexpr size_t nextToRange = 60, nextToFile = 14;
constexpr size_t minTextNameColumns = 16;  ///< However narrow a line is.

class TextReport {
  public:
    explicit TextReport(const ComparisonReport& report) : report_(report) {}

    std::string text() {
        addAnswers();
        addCautions();
        addConditions();
        addRuns();
        if (report_.candidates.size() == 1) addDetails();  // for several candidates they would bury the rest
        for (const ReportGroup& group : reportGroups(report_, candidatesAbreast)) {
            text_ += partsText(report_, group);
            for (size_t parts = 0; parts < analysis::partGroupCount; ++parts)
                text_ += contributorsText(report_, group, static_cast<analysis::PartGroup>(parts));
            text_ += rangesText(report_, group) + pathText(report_, group);
            text_ += unmatchedText(report_, group, true) + unmatchedText(report_, group, false);
        }
        return text_ + judgedText(report_) + outliersText(report_) + workersText(report_);
    }

  private:
    void addAnswers() {
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const compare::Answer& answer = report_.candidates[index].comparison.answer;
            const std::string before = candidateMark(report_, index);
            text_ += wrapped(before + printable(answer.sentence), before.size(), report_.lineWidth);
        }
    }

    void addDetails() {
        const std::vector<std::string>& details = report_.candidates.front().comparison.answer.details;
        if (!details.empty()) text_ += "\n";
        for (const std::string& detail : details) text_ += wrapped(printable(detail), 4, report_.lineWidth);
    }

    void addCautions() {
        const std::vector<ReportCaution> cautions = cautionsOf(report_);
        if (!cautions.empty()) text_ += "\n";
        for (const ReportCaution& caution : cautions) {
            const std::string before = "Caution: " + markOf(caution);
            text_ += wrapped(before + printable(caution.sentence), 9, report_.lineWidth);
        }
    }

    static std::string markOf(const ReportCaution& caution) {
        return caution.candidate ? fmt::format("[{}] ", *caution.candidate + 1) : std::string();
    }

    void addConditions() {
        bool isFirst = true;
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            for (const compare::ConditionOutcome& condition : report_.candidates[index].conditions) {
                if (isFirst) text_ += "\nConditions\n";
                isFirst = false;
                text_ += wrapped("  " + candidateMark(report_, index) + condition.sentence, 4, report_.lineWidth);
            }
        }
    }

    void addRuns() {
        text_ += "\n" + runsText();
        if (!report_.selection.empty()) text_ += fmt::format("Compared: {}.\n", printable(report_.selection));
    }

    size_t roomNextTo(size_t others) const { return std::max(report_.lineWidth, others + minTextNameColumns) - others; }

    /// A line of the table of runs.
    struct RunLine {
        std::string run, steps, title;
    };

    std::vector<RunLine> runLines() const {
        std::vector<RunLine> lines;
        const std::vector<ReportGroup> groups = reportGroups(report_, report_.candidates.size());
        const std::string baselineTitle = printable(report_.baseline.facts.title);
        const size_t widest = roomNextTo(nextToRange);
        if (groups.empty()) lines.push_back({"Baseline", sourceSentence(report_.baseline, 0, widest), baselineTitle});
        for (const ReportGroup& group : groups)
            lines.push_back({"Baseline",
                             stepsSentence(report_.baseline, group.baselineWorker, group.view.first().baseline, widest),
                             baselineTitle});
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const ComparedCandidate& candidate = report_.candidates[index];
            const compare::WorkerComparison* pair = candidate.comparison.criticalPair();
            lines.push_back({candidateColumn(report_, index),
                             pair ? stepsSentence(candidate.summary, pair->candidateWorker, pair->candidate, widest)
                                  : sourceSentence(candidate.summary, 0, widest),
                             printable(candidate.summary.facts.title)});
        }
        return lines;
    }

    /// Names may be truncated, statements about the steps not: without room they continue in the next line.
    std::string runsText() const {
        TextGrid grid(std::vector(3, TextGrid::Side::Left));
        TextGrid narrow(std::vector(2, TextGrid::Side::Left));
        for (const RunLine& line : runLines()) {
            grid.add({line.run, line.steps, line.title});
            narrow.add({line.run, fmt::format("{} ({})", line.steps, elideMiddle(line.title, roomNextTo(nextToFile)))},
                       TextGrid::Overlong::Wrap);
        }
        return (grid.fits(report_.lineWidth) ? grid : narrow).text(report_.lineWidth);
    }

    const ComparisonReport& report_;
    std::string text_;
};

}  // namespace

std::string comparisonAsText(const ComparisonReport& report) { return TextReport(report).text(); }

}  // namespace lanescope::report
