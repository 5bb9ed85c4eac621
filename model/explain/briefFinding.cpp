// SPDX-License-Identifier: Apache-2.0
#include "model/explain/briefFinding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/explain/FindingText.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

constexpr size_t maxNameColumns = 40;

size_t wordsOf(std::string_view text) {
    size_t words = 0;
    bool isInWord = false;
    for (const char letter : text) {
        if (letter != ' ' && !isInWord) ++words;
        isInWord = letter != ' ';
    }
    return words;
}

std::string capitalized(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
    return text;
}

/// Returns "every third step is 11.8 ms longer".
std::string patternText(const StepPattern& found, const std::string& unit) {
    const std::string longer = timeText(static_cast<double>(found.excessNs)) + " longer";
    switch (found.kind) {
        case PatternKind::Period: return fmt::format("every {} {} is {}", ordinalText(found.period), unit, longer);
        case PatternKind::Level: return fmt::format("{}s from {} on are {}", unit, found.firstNumber, longer);
        case PatternKind::TwoModes:
            return fmt::format("{} % of the {}s are {}", percentText(100 * found.share), unit, longer);
        case PatternKind::Drift: return fmt::format("{}s grow, at last {}", unit, longer);
    }
    return {};
}

std::string what(const RunSummary& run, const Finding& finding) {
    const std::string unit(identifier(run.kind));
    const WorkerSummary& worker = run.workers[finding.worker];
    if (finding.pattern) return patternText(*finding.pattern, unit);
    if (finding.rule->isOfSingleSteps() && !worker.outliers.empty())
        return fmt::format("{} of {} {}s {} far longer", worker.outliers.size(), worker.steps.size(), unit,
                           worker.outliers.size() == 1 ? "is" : "are");
    return std::string(finding.rule->title.empty() ? finding.rule->id : finding.rule->title);
}

/// Returns the range, line or processes that only these steps or this rank have, then the innermost range, the line and
/// the name of the main contributor, as far as known.
std::vector<std::string> causes(const WorkerSummary& worker, const Finding& finding) {
    std::vector<std::string> causes;
    const auto add = [&](const std::string& text) {
        if (!text.empty()) causes.push_back(elideMiddle(printable(text), maxNameColumns));
    };
    if (const Distinction* only = distinctionOf(worker, finding); only != nullptr)
        add(only->kind == DistinctionKind::Loader ? "data loaders start" : only->name);
    if (!finding.contributor.isIdle() && !finding.contributor.empty()) add(shortName(finding.contributor));
    if (!finding.path.empty()) add(finding.path.substr(finding.path.rfind('/') + 1));
    if (finding.contributor.isIdle()) {
        const IdleCause& cause = finding.contributor.idle;
        if (!cause.activity.frame.isEmpty())
            add(cause.activity.frame.text());
        else
            add(cause.kind == CauseKind::OutsideCalls ? "host code" : cause.call);
    }
    if (!finding.launched.empty()) add(shortContributorName(finding.launched, true));
    return causes;
}

}  // namespace

std::string briefFinding(const RunSummary& run, const Finding& finding) {
    const WorkerSummary& worker = run.workers[finding.worker];
    std::string text = what(run, finding);
    // "GPU" and "NVLink" keep their letters.
    if (run.workers.size() > 1 && text.size() > 1 && text[1] >= 'a' && text[1] <= 'z')
        text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    if (run.workers.size() > 1)
        text = (worker.rank ? fmt::format("rank {}: ", *worker.rank) : fmt::format("GPU {}: ", worker.gpuId)) + text;
    text = capitalized(std::move(text));
    bool isFirst = true;
    for (const std::string& cause : causes(worker, finding)) {
        const std::string longer = text + (isFirst ? ": " : ", ") + cause;
        if (wordsOf(longer) > maxBriefWords) continue;
        text = longer;
        isFirst = false;
    }
    return text;
}

}  // namespace lanescope::explain
