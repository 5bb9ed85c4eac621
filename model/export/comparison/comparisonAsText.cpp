// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "model/export/comparison/ComparisonReport.h"
#include "model/export/comparison/TextGrid.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/comparison/textTables.h"
#include "model/values/displayWidth.h"
#include "model/values/formatValue.h"

namespace lanescope::report {

namespace {

/// So many candidates fit beside each other.
constexpr size_t candidatesAbreast = 3;
/// Of a line of the runs what is there beside the name of the range, and beside that of the file
/// where it stands below.
constexpr size_t besideRange = 60, besideFile = 14;
constexpr size_t leastName = 16;  ///< However narrow a line is.

class TextReport {
  public:
    explicit TextReport(const ComparisonReport& report) : report_(report) {}

    std::string text() {
        addAnswers();
        addCautions();
        addConditions();
        addRuns();
        if (report_.candidates.size() == 1)
            addDetails();  // of several candidates they would bury the rest
        for (const ReportGroup& group : reportGroups(report_, candidatesAbreast)) {
            text_ += partsText(report_, group);
            for (size_t parts = 0; parts < compare::partGroupCount; ++parts)
                text_ += contributorsText(report_, group, static_cast<compare::PartGroup>(parts));
            text_ += rangesText(report_, group);
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
        const std::vector<std::string>& details =
            report_.candidates.front().comparison.answer.details;
        if (!details.empty()) text_ += "\n";
        for (const std::string& detail : details)
            text_ += wrapped(printable(detail), 4, report_.lineWidth);
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
            for (const gate::ConditionOutcome& condition : report_.candidates[index].conditions) {
                if (isFirst) text_ += "\nConditions\n";
                isFirst = false;
                text_ += wrapped("  " + candidateMark(report_, index) + condition.sentence, 4,
                                 report_.lineWidth);
            }
        }
    }

    void addRuns() {
        text_ += "\n" + runsText();
        if (!report_.selection.empty())
            text_ += fmt::format("Compared: {}.\n", printable(report_.selection));
    }

    size_t roomBeside(size_t others) const {
        return std::max(report_.lineWidth, others + leastName) - others;
    }

    /// A line of the table of runs.
    struct RunLine {
        std::string run, steps, title;
    };

    std::vector<RunLine> runLines() const {
        std::vector<RunLine> lines;
        const std::vector<ReportGroup> groups = reportGroups(report_, report_.candidates.size());
        const std::string baselineTitle = printable(report_.baseline.facts.title);
        const size_t widest = roomBeside(besideRange);
        if (groups.empty())
            lines.push_back(
                {"Baseline", sourceSentence(report_.baseline, 0, widest), baselineTitle});
        for (const ReportGroup& group : groups)
            lines.push_back({"Baseline",
                             stepsSentence(report_.baseline, group.baselineWorker,
                                           group.view.first().baseline, widest),
                             baselineTitle});
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            const ComparedCandidate& candidate = report_.candidates[index];
            const compare::WorkerComparison* pair = candidate.comparison.criticalPair();
            lines.push_back({candidateColumn(report_, index),
                             pair ? stepsSentence(candidate.summary, pair->candidateWorker,
                                                  pair->candidate, widest)
                                  : sourceSentence(candidate.summary, 0, widest),
                             printable(candidate.summary.facts.title)});
        }
        return lines;
    }

    /// Names may be cut, what is said of the steps not: where a line has no room for it, it goes on
    /// in the next.
    std::string runsText() const {
        TextGrid grid(std::vector(3, TextGrid::Side::Left));
        TextGrid narrow(std::vector(2, TextGrid::Side::Left));
        for (const RunLine& line : runLines()) {
            grid.add({line.run, line.steps, line.title});
            narrow.add({line.run, fmt::format("{} ({})", line.steps,
                                              cutMiddle(line.title, roomBeside(besideFile)))},
                       TextGrid::Overlong::Wrap);
        }
        return (grid.fits(report_.lineWidth) ? grid : narrow).text(report_.lineWidth);
    }

    const ComparisonReport& report_;
    std::string text_;
};

}  // namespace

std::string comparisonAsText(const ComparisonReport& report) {
    return TextReport(report).text();
}

}  // namespace lanescope::report
