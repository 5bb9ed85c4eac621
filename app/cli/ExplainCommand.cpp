// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/explain/Explanation.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/makeComparison.h"

namespace lanescope::cli {

using namespace explain;

namespace {

struct ExplainOptions {
    std::string file;
    std::string format = "text";
    std::string output;
    CompareSelection selection;
    std::vector<std::string> muted, conditions;
    bool hasRuleConditions = false;
};

std::string rulesText() {
    std::string text = "Rules:\n";
    for (const Rule* rule : allRules()) text += fmt::format("  {:<22} {}\n", rule->id, rule->finds);
    return text;
}

std::string printed(const report::ExplanationReport& explained, const std::string& format) {
    if (format == "json") return explanationAsJson(explained);
    return format == "html" ? explanationAsHtml(explained) : explanationAsText(explained);
}

/// Prints the findings that decided the exit status; returns true if there are any.
bool isAnyMet(const ExplainOptions& options, const Explanation& explanation) {
    bool isMet = false;
    for (const std::string& text : options.conditions) {
        const Result<RuleCondition> condition = parseRuleCondition(text);  // checked before
        for (const explain::Finding& finding : explanation.findings) {
            if (!condition || !condition->isMetBy(finding)) continue;
            printMessage(fmt::format("{} holds: {}", text, finding.sentence));
            isMet = true;
            break;
        }
    }
    return isMet;
}

/// Returns why no condition can be judged; empty if all can.
std::string whyNotJudged(const report::ExplanationReport& explained) {
    if (explained.run.isEmpty()) return explained.explanation.sentence;
    if (const HealthNote* damage = explained.run.facts.damage()) return damage->sentence;
    return timelessSentence(explained.run);
}

Result<int> runExplain(const ExplainOptions& options) {
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    if (options.hasRuleConditions) {
        output->write(rulesText());
        const Result<void> closed = output->close();
        return closed ? Result<int>(exitOk) : fail(closed.error());
    }
    Result<analysis::RunSummary> run = summarizeFile(options.file, options.selection, loadForCommand);
    if (!run) return fail(run.error());
    MutedRules muted;
    for (const std::string& name : options.muted)
        if (const Result<const Rule*> rule = parseRule(name)) muted.insert(*rule);
    report::ExplanationReport explained{std::move(*run), {}, output->lineWidth()};
    explained.explanation = explain::explain(explained.run, muted);
    output->write(printed(explained, options.format));
    if (const Result<void> closed = output->close(); !closed) return fail(closed.error());
    if (explained.run.isEmpty() && options.conditions.empty()) return exitNoAnswer;
    // An incomplete or unchecked trace cannot pass.
    const std::string doubt = whyNotJudged(explained);
    if (!options.conditions.empty() && !doubt.empty()) {
        printMessage(fmt::format("{}: {} No condition can be evaluated.", options.file, doubt));
        return exitNoAnswer;
    }
    return isAnyMet(options, explained.explanation) ? exitMet : exitOk;
}

}  // namespace

void addExplain(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<ExplainOptions>();
    CLI::App* command = app.add_subcommand("explain", "Show where a run spends its time and what to fix first");
    CLI::Option* file = command->add_option("FILE", options->file, readableFormats());
    addStepOptions(*command, options->selection);
    help::addRepeated(
        *command, "--mute", "RULE", [](const std::string& text) { return parseRule(text); }, options->muted,
        "Skip this rule; repeatable");
    help::addRepeated(
        *command, "--fail-if", "CONDITION", [](const std::string& text) { return parseRuleCondition(text); },
        options->conditions,
        "Exit with 1 if this rule reports a finding: 'launch_bound', 'late_rank > 5ms' or 'any > 10%' of "
        "the mean step; repeatable");
    command->add_flag("--rules", options->hasRuleConditions, "List the rules and their conditions");
    addFormat(*command, options->format, {"text", "json", "html"});
    addOutputFile(*command, options->output);
    command->footer(
        "Examples:\n  lanescope explain run.sqlite\n  lanescope explain run.sqlite --steps 20-40 -f html -o run.html\n "
        " lanescope explain run.sqlite --fail-if 'launch_bound > 10%'");
    command->callback([options, file, &exitStatus] {
        if (file->count() == 0 && !options->hasRuleConditions) {
            printMessage("Name the trace to explain, or use --rules. Try 'lanescope explain --help'.");
            exitStatus = exitUsage;
            return;
        }
        const Result<int> status = runExplain(*options);
        exitStatus = statusOf(status);
        // No verdict has another exit status than a finding.
        if (!status && !options->conditions.empty()) exitStatus = exitNoAnswer;
    });
}

}  // namespace lanescope::cli
