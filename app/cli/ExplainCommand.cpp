// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/Explanation.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/makeComparison.h"
#include "model/text/formatValue.h"

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
    const Result<void> closed = output->close();
    if (!closed) return fail(closed.error());
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
    command->add_option("--mute", options->muted, "Skip this rule; repeatable")
        ->type_name("RULE")
        ->allow_extra_args(false)
        ->check([](const std::string& text) { return checkText(parseRule(text)); });
    command
        ->add_option("--fail-if", options->conditions,
                     "Exit with 1 if this rule reports a finding: 'launch_bound', 'late_rank > 5ms' or 'any > 10%' of "
                     "the mean step; repeatable")
        ->type_name("CONDITION")
        ->allow_extra_args(false)
        ->check([](const std::string& text) { return checkText(parseRuleCondition(text)); });
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

namespace {

struct WhatIfOptions {
    std::string file;
    std::string format = "text";
    std::string output;
    CompareSelection selection;
    std::vector<std::string> scales, removals;
};

std::vector<causality::Change> changesOf(const WhatIfOptions& options) {
    std::vector<causality::Change> changes;
    for (const std::string& text : options.scales)
        if (const auto change = causality::parseScale(text)) changes.push_back(*change);
    for (const std::string& text : options.removals)
        if (const auto change = causality::parseRemoval(text)) changes.push_back(*change);
    return changes;
}

std::string changesText(const std::vector<causality::Change>& changes) {
    std::string text;
    for (const causality::Change& change : changes) text += (text.empty() ? "" : ", ") + change.text();
    return text;
}

std::string asText(const analysis::ReplayedRun& run, const std::vector<causality::Change>& changes,
                   const causality::Scales& scales, const causality::Forecast& forecast, const std::string& refusal) {
    const causality::StepReplay& replay = run.replay;
    std::string text =
        fmt::format("{}: {}, mean {}. Replay error {} %.\n", run.worker, replay.stepsText(),
                    analysis::timeText(replay.recordedNs()), analysis::percentDifferenceText(100 * replay.error()));
    for (size_t each = 0; each < changes.size(); ++each) {
        constexpr size_t maxShown = 8;
        const auto& kernels = scales.kernels[each];
        if (changes[each].name.empty() || kernels.empty()) continue;
        text += changes[each].text() + " matches";
        size_t shown = 0;
        for (const std::string_view kernel : kernels)
            if (++shown <= maxShown) text += (shown == 1 ? " " : ", ") + printable(kernel);
        text += shown > maxShown ? fmt::format(" and {} more.\n", shown - maxShown) : ".\n";
    }
    if (!refusal.empty()) return text + "No forecast. " + refusal + "\n";
    if (changes.empty()) return text;
    const double savedNs = forecast.savedNs();
    return text + fmt::format("{}: {} ± {} per step, {} {} ({} %).\n", changesText(changes),
                              analysis::timeText(forecast.stepNs), analysis::timeText(forecast.marginNs),
                              savedNs < 0 ? "longer by" : "saves", analysis::timeText(std::abs(savedNs)),
                              analysis::percentText(100 * std::abs(savedNs) / forecast.recordedNs));
}

std::string asJson(const analysis::ReplayedRun& run, const std::vector<causality::Change>& changes,
                   const causality::Scales& scales, const causality::Forecast& forecast, const std::string& refusal) {
    nlohmann::ordered_json all{{"schema", "lanescope-whatif"},
                               {"version", 1},
                               {"worker", run.worker},
                               {"steps", run.replay.stepCount()},
                               {"stepNs", run.replay.recordedNs()},
                               {"replayError", run.replay.error()},
                               {"unknownShare", run.replay.unknownShare()},
                               {"changes", nlohmann::ordered_json::array()}};
    for (size_t each = 0; each < changes.size(); ++each)
        all["changes"].push_back({{"text", changes[each].text()}, {"kernels", scales.kernels[each]}});
    all["refusal"] = refusal.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(refusal);
    const bool isMade = refusal.empty() && !changes.empty();
    all["forecastNs"] = isMade ? nlohmann::ordered_json(forecast.stepNs) : nlohmann::ordered_json();
    all["marginNs"] = isMade ? nlohmann::ordered_json(forecast.marginNs) : nlohmann::ordered_json();
    return withoutControls(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + "\n";
}

Result<int> runWhatIf(const WhatIfOptions& options) {
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    const Result<StepSelection> selection = stepSelectionFor(**trace, options.selection);
    if (!selection) return fail(selection.error());
    const Result<analysis::ReplayedRun> run = analysis::replayRun(**trace, *selection);
    if (!run) return fail(run.error());
    const std::vector<causality::Change> changes = changesOf(options);
    const causality::Scales scales = causality::scalesOf(**trace, run->replay.graph(), changes);
    std::string refusal = run->replay.refusal();
    for (size_t each = 0; each < changes.size(); ++each)
        if (scales.selected[each] == 0)
            refusal =
                fmt::format("{}: no such part in the steps. Run 'lanescope stats -r critical_path {}' to list parts.",
                            changes[each].text(), options.file);
    const causality::Forecast forecast = run->replay.forecast(changes);
    output->write(options.format == "json" ? asJson(*run, changes, scales, forecast, refusal)
                                           : asText(*run, changes, scales, forecast, refusal));
    const Result<void> closed = output->close();
    if (!closed) return fail(closed.error());
    reportTraceWarnings(**trace);
    return refusal.empty() ? exitOk : exitNoAnswer;
}

}  // namespace

void addWhatIf(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<WhatIfOptions>();
    CLI::App* command = app.add_subcommand("whatif", "Forecast the step time with changes");
    command->add_option("FILE", options->file, readableFormats())->required();
    command
        ->add_option("--scale", options->scales,
                     "Multiply the time of a part: 'kernel:NAME=0.5' (a part of the name, or * as a wildcard), "
                     "'family:NAME', 'line:FILE:LINE', 'rank:N', "
                     "'copy:HtoD', 'kernels', 'nccl', 'memset', 'launch', 'sync', 'allocation', 'host' or 'loader'; "
                     "repeatable")
        ->type_name("PART=FACTOR")
        ->allow_extra_args(false)
        ->check([](const std::string& text) { return checkText(causality::parseScale(text)); });
    command->add_option("--no", options->removals, "Remove a part and what it waits for: 'loader'; repeatable")
        ->type_name("PART")
        ->allow_extra_args(false)
        ->check([](const std::string& text) { return checkText(causality::parseRemoval(text)); });
    addStepOptions(*command, options->selection);
    addFormat(*command, options->format, {"text", "json"});
    addOutputFile(*command, options->output);
    command->footer(
        "Exits with 3 if the recorded causes do not explain the steps, or a part is not in them.\n\n"
        "Examples:\n"
        "  lanescope whatif run.sqlite --scale 'kernel:gemm=0.5' --scale 'nccl=0'\n"
        "  lanescope whatif run.sqlite --no loader -f json");
    command->callback([options, &exitStatus] { exitStatus = statusOf(runWhatIf(*options)); });
}

}  // namespace lanescope::cli
