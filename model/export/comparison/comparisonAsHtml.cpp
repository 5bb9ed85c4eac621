#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/export/comparison/ComparisonReport.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/comparison/compositionChart.h"
#include "model/export/comparison/htmlStyle.h"
#include "model/export/comparison/htmlTables.h"
#include "model/export/comparison/htmlText.h"
#include "model/export/comparison/stepChart.h"
#include "model/export/comparison/waterfallChart.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// Class of the style sheet for what an outcome means.
std::string_view classOf(Outcome outcome) {
    switch (outcome) {
        case Outcome::Slower:
            return "slower";
        case Outcome::Faster:
            return "faster";
        case Outcome::WithinNoise:
            return "same";
        default:
            return "doubtful";
    }
}

std::string badgeText(const RunComparison& comparison) {
    const Outcome outcome = comparison.answer.outcome;
    const WorkerComparison* pair = comparison.criticalPair();
    if (pair && (outcome == Outcome::Slower || outcome == Outcome::Faster))
        return fmt::format("{:.1f} % {}", std::abs(pair->claim.percent), name(outcome));
    return outcome == Outcome::Nothing ? "nothing to compare" : std::string(name(outcome));
}

std::string figure(std::string_view label, std::string_view value) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", htmlEscaped(value),
                       htmlEscaped(label));
}

/// The numbers that a claim rests on.
std::string claimFigures(const WorkerComparison& pair) {
    const auto time = [](double ns) { return formatDuration(static_cast<int64_t>(ns)); };
    const auto signedTime = [&](double ns) { return (ns > 0 ? "+" : "") + time(ns); };
    std::string html = "<ul class=\"figures\">\n";
    html += figure("baseline, median step", time(pair.baseline.medianNs));
    html += figure("candidate, median step", time(pair.candidate.medianNs));
    html += figure("difference", signedTime(pair.claim.differenceNs));
    if (pair.claim.outcome != Outcome::TooFewSteps) {
        html += figure(
            "95 % confidence interval",
            fmt::format("{} to {}", signedTime(pair.claim.lowNs), signedTime(pair.claim.highNs)));
        html += figure("Mann-Whitney U test", pValueEquation(pair.claim.pValue));
    }
    html += figure("steps, baseline and candidate",
                   fmt::format("{} and {}", formatCount(pair.baseline.count),
                               formatCount(pair.candidate.count)));
    return html + "</ul>\n";
}

class HtmlReport {
  public:
    explicit HtmlReport(const ComparisonReport& report)
        : report_(report), groups_(candidateGroups(report, candidatesAbreast)) {}

    std::string html() {
        addHead();
        for (size_t index = 0; index < report_.candidates.size(); ++index) addAnswer(index);
        addConditions();
        addParts();
        addSteps();
        addContributors();
        addSection("Steps that stand out",
                   "Much longer than the other steps of their run, and what they spent it on.",
                   outliersHtml(report_));
        addSection("Every worker", "The median step of each process on its GPU.",
                   workersHtml(report_));
        addSection("The runs", "", factsHtml(report_));
        html_ +=
            "</main>\n<footer><p>Made by lanescope compare. Times are those of the worker that "
            "the others wait for; the parts of a step sum to it exactly. This page needs no "
            "other file.</p></footer>\n<script>";
        html_ += reportScript();
        html_ += "</script>\n</body>\n</html>\n";
        return std::move(html_);
    }

  private:
    static constexpr size_t candidatesAbreast = 4;

    bool isSingle() const { return report_.candidates.size() == 1; }
    std::string titleOf(const RunSummary& run) const { return htmlEscaped(run.facts.title); }

    void addHead() {
        std::string candidates;
        for (const ComparedCandidate& candidate : report_.candidates)
            candidates += (candidates.empty() ? "" : ", ") + titleOf(candidate.summary);
        html_ = fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action "
            "'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>{} against {}</title>\n<style>",
            reportStyleHash(), reportScriptHash(), candidates, titleOf(report_.baseline));
        html_ += reportStyle();
        html_ += fmt::format(
            "</style>\n</head>\n<body>\n<header>\n<p class=\"maker\">Lanescope comparison</p>\n"
            "<h1>{} <span class=\"against\">against {}</span></h1>\n</header>\n<main>\n",
            candidates, titleOf(report_.baseline));
    }

    void addSection(std::string_view title, std::string_view note, const std::string& content) {
        if (content.empty()) return;
        html_ += fmt::format("<section>\n<h2>{}</h2>\n", htmlEscaped(title));
        if (!note.empty()) html_ += fmt::format("<p class=\"note\">{}</p>\n", htmlEscaped(note));
        html_ += content + "</section>\n";
    }

    void addAnswer(size_t index) {
        const RunComparison& comparison = report_.candidates[index].comparison;
        const std::string_view kind = classOf(comparison.answer.outcome);
        html_ += fmt::format("<div class=\"answer {}\">\n<span class=\"badge {}\">{}</span>", kind,
                             kind, htmlEscaped(badgeText(comparison)));
        if (!isSingle()) html_ += fmt::format(" <code>{}</code>", candidateHeading(report_, index));
        html_ += fmt::format("\n<p class=\"sentence\">{}</p>\n",
                             htmlEscaped(comparison.answer.sentence));
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
            html += fmt::format("<li>{}</li>\n", htmlEscaped(caution));
        return html + "</ul></div>\n";
    }

    /// Folded where there are several candidates, whose answers shall stand on one screen.
    std::string detailsHtml(const std::vector<std::string>& details) const {
        if (details.empty()) return {};
        std::string html = "<ul class=\"details\">\n";
        for (const std::string& detail : details)
            html += fmt::format("<li>{}</li>\n", htmlEscaped(detail));
        html += "</ul>\n";
        return isSingle() ? html : "<details><summary>More</summary>\n" + html + "</details>\n";
    }

    void addConditions() {
        std::string rows;
        for (size_t index = 0; index < report_.candidates.size(); ++index) {
            for (const ConditionOutcome& condition : report_.candidates[index].conditions) {
                const std::string_view kind = condition.state == ConditionState::Met      ? "met"
                                              : condition.state == ConditionState::NotMet ? "fine"
                                                                                          : "open";
                std::string findings;
                for (const TestOutcome& test : condition.tests)
                    findings += (findings.empty() ? "" : "; ") + test.finding;
                rows += fmt::format(
                    "<tr><td class=\"{}\">{}</td><td class=\"name\"><code>{}</code></td>"
                    "<td>{}{}</td></tr>\n",
                    kind, htmlEscaped(name(condition.state)), htmlEscaped(condition.text),
                    isSingle() ? "" : fmt::format("[{}] ", index + 1), htmlEscaped(findings));
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

    std::string compositionOf(const CandidateGroup& group) const {
        std::vector<StepComposition> runs{{"baseline", {}}};
        for (const PartDifference& part : pairOf(report_, group.candidates.front()).parts)
            runs[0].parts[part.part] = part.baselineNs;
        for (const size_t index : group.candidates) {
            runs.push_back({runLabel(index), {}});
            for (const PartDifference& part : pairOf(report_, index).parts)
                runs.back().parts[part.part] = part.candidateNs;
        }
        return "<figure>\n" + compositionChart(runs) + "</figure>\n";
    }

    std::string waterfallOf(size_t index) const {
        const WorkerComparison& pair = pairOf(report_, index);
        Waterfall waterfall;
        waterfall.id = fmt::format("waterfall-{}", index);
        waterfall.title = fmt::format(
            "From the baseline's mean step of {} to the candidate's of {}, part by part",
            formatDuration(pair.baseline.meanNs), formatDuration(pair.candidate.meanNs));
        waterfall.startLabel = "baseline";
        waterfall.endLabel = runLabel(index);
        waterfall.startNs = pair.baseline.meanNs;
        waterfall.endColor = static_cast<int>(index) + 1;
        for (const PartDifference& part : pair.parts)
            waterfall.bars.push_back({std::string(name(part.part)), part.lostNs()});
        std::string caption;
        if (!isSingle())
            caption =
                fmt::format("<figcaption>{}</figcaption>\n", candidateHeading(report_, index));
        return fmt::format("<figure>\n{}{}</figure>\n", caption, waterfallChart(waterfall));
    }

    void addParts() {
        std::string content;
        for (const CandidateGroup& group : groups_) {
            content += compositionOf(group);
            for (const size_t index : group.candidates) content += waterfallOf(index);
            content += partsTableHtml(report_, group);
        }
        addSection("Where the time of a step goes",
                   groups_.empty()
                       ? ""
                       : "Mean step of " + placeSentence(report_, groups_.front()) +
                             ". Each moment counts for one part only: what the GPU computes "
                             "hides everything else.",
                   content);
    }

    static StepSeries seriesOf(const RunSummary& run, uint32_t worker,
                               const StepDistribution& steps, std::string label) {
        StepSeries series;
        series.label = std::move(label);
        series.medianNs = steps.medianNs;
        series.firstQuartileNs = steps.firstQuartileNs;
        series.thirdQuartileNs = steps.thirdQuartileNs;
        if (worker >= run.workers.size()) return series;
        for (const StepSummary& step : run.workers[worker].steps) {
            series.names.push_back(step.name.empty() ? fmt::format("step {}", step.number)
                                                     : step.name);
            series.wallNs.push_back(step.wallNs);
        }
        return series;
    }

    void addSteps() {
        std::string content;
        for (const CandidateGroup& group : groups_) {
            std::vector<StepSeries> runs{
                seriesOf(report_.baseline, group.baselineWorker,
                         pairOf(report_, group.candidates.front()).baseline, "baseline")};
            for (const size_t index : group.candidates) {
                const WorkerComparison& pair = pairOf(report_, index);
                runs.push_back(seriesOf(report_.candidates[index].summary, pair.candidateWorker,
                                        pair.candidate, runLabel(index)));
                runs.back().color = static_cast<int>(index) + 1;
            }
            content += "<figure>\n" + stepChart(runs) + "</figure>\n";
        }
        addSection(
            "Step by step",
            "A dot is a step, a line the median, a band the middle half of the steps. Of more "
            "than a thousand steps, the band is from the shortest to the longest nearby. The "
            "axis does not begin at 0.",
            content);
    }

    void addContributors() {
        std::string content, unmatched;
        for (const CandidateGroup& group : groups_) {
            for (size_t list = 0; list < contributorListCount; ++list)
                content += contributorsHtml(report_, group, static_cast<ContributorList>(list));
            content += rangesHtml(report_, group);
            content += unmatchedHtml(report_, group);
        }
        addSection("What lost the time",
                   "Time of a mean step that nothing else hides, greatest loss first.", content);
    }

    const ComparisonReport& report_;
    std::vector<CandidateGroup> groups_;
    std::string html_;
};

}  // namespace

std::string comparisonAsHtml(const ComparisonReport& report) {
    return HtmlReport(report).html();
}

}  // namespace lanescope
