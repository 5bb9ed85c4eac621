// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/compare/shownNumbers.h"
#include "model/export/comparison/ComparisonReport.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/comparison/compositionChart.h"
#include "model/export/comparison/htmlPage.h"
#include "model/export/comparison/htmlTables.h"
#include "model/export/comparison/stepChart.h"
#include "model/export/comparison/waterfallChart.h"
#include "model/values/formatValue.h"
#include "model/values/markupText.h"

namespace lanescope::report {

using namespace compare;

namespace {

/// Class of the style sheet for what an outcome means.
std::string_view classOf(Outcome outcome) {
    switch (outcome) {
        case Outcome::Slower:
        case Outcome::Longer:
            return "slower";
        case Outcome::Faster:
        case Outcome::Shorter:
            return "faster";
        case Outcome::WithinNoise:
        case Outcome::Alike:
            return "same";
        case Outcome::Nothing:
        case Outcome::TooFewSteps:
        case Outcome::PartsChanged:
            break;
    }
    return "doubtful";
}

std::string badgeText(const RunComparison& comparison) {
    const Outcome outcome = comparison.answer.outcome;
    const WorkerComparison* pair = comparison.criticalPair();
    if (pair && classOf(outcome) != "same" && classOf(outcome) != "doubtful")
        return fmt::format("{} % {}", percentText(std::abs(pair->claim.percent)), name(outcome));
    return outcome == Outcome::Nothing ? "nothing to compare" : std::string(name(outcome));
}

std::string figure(std::string_view label, std::string_view value) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", markupEscaped(value),
                       markupEscaped(label));
}

/// The numbers that a claim rests on.
std::string claimFigures(const WorkerComparison& pair) {
    const Claim& claim = pair.claim;
    std::string html = "<ul class=\"figures\">\n";
    html += figure("baseline, median step", timeText(pair.baseline.medianNs));
    html += figure("candidate, median step", timeText(pair.candidate.medianNs));
    html += figure("difference", timeDifferenceText(claim.differenceNs));
    if (claim.outcome != Outcome::TooFewSteps) {
        const bool isOfRuns = claim.unit == ClaimUnit::Runs;
        html += figure(isOfRuns ? "95 % confidence interval of runs"
                                : "95 % confidence interval of these runs' steps",
                       fmt::format("{} to {}", timeDifferenceText(claim.lowNs),
                                   timeDifferenceText(claim.highNs)));
        html += figure(isOfRuns ? "t test of runs" : "Mann-Whitney U test of steps",
                       pValueEquation(isOfRuns ? claim.adjustedPValue : claim.pValue));
        if (isOfRuns)
            html += figure("runs, baseline and candidate",
                           fmt::format("{} and {}", claim.baselineRuns, claim.candidateRuns));
    }
    html += figure("steps, baseline and candidate",
                   fmt::format("{} and {}", formatCount(pair.baseline.count),
                               formatCount(pair.candidate.count)));
    return html + "</ul>\n";
}

class HtmlReport {
  public:
    explicit HtmlReport(const ComparisonReport& report)
        : report_(report), groups_(reportGroups(report, candidatesAbreast)) {}

    std::string html() {
        std::string candidates;
        for (const ComparedCandidate& candidate : report_.candidates)
            candidates += (candidates.empty() ? "" : ", ") + titleOf(candidate.summary);
        const std::string baseline = titleOf(report_.baseline);
        addContent();
        return htmlPage(
            fmt::format("{} against {}", candidates, baseline),
            fmt::format("{} <span class=\"against\">against {}</span>", candidates, baseline),
            html_);
    }

  private:
    static constexpr size_t candidatesAbreast = 4;

    bool isSingle() const { return report_.candidates.size() == 1; }
    std::string titleOf(const RunSummary& run) const { return markupEscaped(run.facts.title); }

    void addContent() {
        for (size_t index = 0; index < report_.candidates.size(); ++index) addAnswer(index);
        addConditions();
        addParts();
        addSteps();
        addContributors();
        addSection("What is certain",
                   "Median of each run, with the run as the unit; 95 % confidence, p of all that "
                   "is judged together (Holm).",
                   judgedHtml(report_));
        addSection("Steps that stand out",
                   "Much longer than the other steps of their run, and what they spent it on.",
                   outliersHtml(report_));
        addSection("Every worker", "The median step of each process on its GPU.",
                   workersHtml(report_));
        addSection("The runs", "", factsHtml(report_));
    }

    void addSection(std::string_view title, std::string_view note, const std::string& content) {
        if (content.empty()) return;
        html_ += fmt::format("<section>\n<h2>{}</h2>\n", markupEscaped(title));
        if (!note.empty()) html_ += fmt::format("<p class=\"note\">{}</p>\n", markupEscaped(note));
        html_ += content + "</section>\n";
    }

    void addAnswer(size_t index) {
        const RunComparison& comparison = report_.candidates[index].comparison;
        const std::string_view kind = classOf(comparison.answer.outcome);
        html_ += fmt::format("<div class=\"answer {}\">\n<span class=\"badge {}\">{}</span>", kind,
                             kind, markupEscaped(badgeText(comparison)));
        if (!isSingle()) html_ += fmt::format(" <code>{}</code>", candidateHeading(report_, index));
        html_ += fmt::format("\n<p class=\"sentence\">{}</p>\n",
                             markupEscaped(comparison.answer.sentence));
        html_ += cautionsHtml(comparison.answer.cautions);
        if (const WorkerComparison* pair = comparison.criticalPair()) html_ += claimFigures(*pair);
        html_ += detailsHtml(comparison.answer.details);
        html_ += "</div>\n";
    }

    static std::string cautionsHtml(const std::vector<std::string>& cautions) {
        if (cautions.empty()) return {};
        std::string html =
            "<div class=\"cautions\"><strong>Before you trust the numbers</strong>\n<ul>\n";
        for (const std::string& caution : cautions)
            html += fmt::format("<li>{}</li>\n", markupEscaped(caution));
        return html + "</ul></div>\n";
    }

    /// Folded where there are several candidates, whose answers shall stand on one screen.
    std::string detailsHtml(const std::vector<std::string>& details) const {
        if (details.empty()) return {};
        std::string html = "<ul class=\"details\">\n";
        for (const std::string& detail : details)
            html += fmt::format("<li>{}</li>\n", markupEscaped(detail));
        html += "</ul>\n";
        return isSingle() ? html : "<details><summary>More</summary>\n" + html + "</details>\n";
    }

    void addConditions() {
        std::string rows;
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            for (const gate::ConditionOutcome& condition : report_.candidates[index].conditions) {
                const std::string_view kind = condition.state == gate::ConditionState::Met ? "met"
                                              : condition.state == gate::ConditionState::NotMet
                                                  ? "fine"
                                                  : "open";
                std::string findings;
                for (const gate::TestOutcome& test : condition.tests)
                    findings += (findings.empty() ? "" : "; ") + test.finding;
                rows += fmt::format(
                    "<tr><td class=\"{}\">{}</td><td class=\"name\"><code>{}</code></td>"
                    "<td>{}{}</td></tr>\n",
                    kind, markupEscaped(name(condition.state)), markupEscaped(condition.text),
                    isSingle() ? "" : fmt::format("[{}] ", index + 1), markupEscaped(findings));
            }
        }
        if (rows.empty()) return;
        addSection(
            "Conditions", "The comparison fails if one of them is met.",
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">State</th><th scope=\"col\">"
            "Condition</th><th scope=\"col\">Finding</th></tr></thead><tbody>\n" +
                rows + "</tbody></table></div>\n");
    }

    std::string runLabel(size_t index) const {
        return isSingle() ? "candidate" : fmt::format("[{}]", index + 1);
    }

    std::string compositionOf(const ReportGroup& group) const {
        std::vector<StepComposition> runs{{"baseline", {}}};
        for (const size_t index : group.candidates) runs.push_back({runLabel(index), {}});
        for (const ComparisonRow& row : partRows(group.view)) {
            runs[0].parts[*row.part] = *row.baseline.ns;
            for (size_t column = 0; column < row.candidates.size(); ++column)
                runs[column + 1].parts[*row.part] = *row.candidates[column].ns;
        }
        return "<figure>\n" + compositionChart(runs, group.view.scale()) + "</figure>\n";
    }

    std::string waterfallOf(size_t index, const WorkerComparison& pair) const {
        WaterfallTitles titles;
        titles.id = fmt::format("waterfall-{}", index);
        titles.title = fmt::format(
            "From the baseline's mean step of {} to the candidate's of {}, part by part",
            pair.scale.text(pair.baseline.meanNs), pair.scale.text(pair.candidate.meanNs));
        titles.startLabel = "baseline";
        titles.endLabel = runLabel(index);
        titles.endColor = static_cast<int>(index) + 1;
        std::string caption;
        if (!isSingle())
            caption =
                fmt::format("<figcaption>{}</figcaption>\n", candidateHeading(report_, index));
        return fmt::format("<figure>\n{}{}</figure>\n", caption,
                           waterfallChart(waterfallBars(pair), titles));
    }

    void addParts() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            content += compositionOf(group);
            for (size_t column = 0; column < group.candidates.size(); ++column)
                content +=
                    waterfallOf(group.candidates[column], *group.view.candidates[column].pair);
            content += partsTableHtml(group);
        }
        addSection("Where the time of a step goes",
                   groups_.empty()
                       ? ""
                       : "Mean step of " + placeSentence(groups_.front().view) +
                             ". Each moment counts for one part only: what the GPU computes "
                             "hides everything else.",
                   content);
    }

    static StepBarsOf stepsOf(const RunSummary& run, uint32_t worker,
                              const StepDistribution& steps) {
        return {worker < run.workers.size() ? &run.workers[worker] : nullptr, steps};
    }

    void addSteps() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            std::vector<StepBarsOf> runs{
                stepsOf(report_.baseline, group.baselineWorker, group.view.first().baseline)};
            std::vector<StepLabel> labels{{"baseline", 0}};
            for (size_t column = 0; column < group.candidates.size(); ++column) {
                const size_t index = group.candidates[column];
                const WorkerComparison& pair = *group.view.candidates[column].pair;
                runs.push_back(stepsOf(report_.candidates[index].summary, pair.candidateWorker,
                                       pair.candidate));
                labels.push_back({runLabel(index), static_cast<int>(index) + 1});
            }
            content += "<figure>\n" + stepChart(stepBars(runs), labels) + "</figure>\n";
        }
        addSection(
            "Step by step",
            "A dot is a step, a line the median, a band the middle half of the steps. Of more "
            "than a thousand steps, the band is from the shortest to the longest nearby. The "
            "axis does not begin at 0.",
            content);
    }

    void addContributors() {
        std::string content;
        for (const ReportGroup& group : groups_) {
            for (size_t parts = 0; parts < partGroupCount; ++parts)
                content += contributorsHtml(report_, group, static_cast<PartGroup>(parts));
            content += rangesHtml(report_, group);
            content += unmatchedHtml(group);
        }
        addSection("What lost the time",
                   "Time of a mean step that nothing else hides, greatest loss first.", content);
    }

    const ComparisonReport& report_;
    std::vector<ReportGroup> groups_;
    std::string html_;
};

}  // namespace

std::string comparisonAsHtml(const ComparisonReport& report) {
    return HtmlReport(report).html();
}

}  // namespace lanescope::report
