// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/text/formatValue.h"
#ifdef LANESCOPE_HAS_CAPTURE
#include "app/cli/RecordArguments.h"
#include "app/cli/VerifyForecast.h"
#endif

namespace lanescope::cli {

namespace {

struct WhatIfOptions {
    std::vector<std::string> words;  ///< The trace, or with `isVerified` the program and its arguments.
    std::string format = "text";
    std::string output;
    CompareSelection selection;
    std::vector<std::string> scales, removals, additions;
    bool isVerified = false;
#ifdef LANESCOPE_HAS_CAPTURE
    int runs = 3;
#endif

    const std::string& file() const { return words.front(); }
};

std::vector<causality::Change> changesOf(const WhatIfOptions& options) {
    std::vector<causality::Change> changes;
    for (const std::string& text : options.scales)
        if (const auto change = causality::parseScale(text)) changes.push_back(*change);
    for (const std::string& text : options.removals)
        if (const auto change = causality::parseRemoval(text)) changes.push_back(*change);
    for (const std::string& text : options.additions)
        if (const auto change = causality::parseAddition(text)) changes.push_back(*change);
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
    std::string text = fmt::format("{}: {}, recorded mean {}. A replay of the recorded causes is off by {} %.\n",
                                   run.worker, replay.stepsText(), analysis::timeText(replay.recordedNs()),
                                   analysis::percentDifferenceText(100 * replay.error()));
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
    const std::string margin = analysis::timeText(forecast.marginNs), with = changesText(changes);
    if (std::abs(savedNs) <= forecast.marginNs)
        return text + fmt::format("Forecast with {}: {} per step, no change beyond the error of ±{}.\n", with,
                                  analysis::timeText(forecast.stepNs), margin);
    return text + fmt::format("Forecast with {}: {} ± {} per step, {} ({} %) {} than recorded.\n", with,
                              analysis::timeText(forecast.stepNs), margin, analysis::timeText(std::abs(savedNs)),
                              analysis::percentText(100 * std::abs(savedNs) / forecast.recordedNs),
                              savedNs < 0 ? "longer" : "shorter");
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
    const Result<TracePtr> trace = loadForCommand(options.file());
    if (!trace) return fail(trace.error());
    Result<Output> output = Output::open(options.output, {options.file()});
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
                            changes[each].text(), options.file());
    const causality::Forecast forecast = run->replay.forecast(changes);
    output->write(options.format == "json" ? asJson(*run, changes, scales, forecast, refusal)
                                           : asText(*run, changes, scales, forecast, refusal));
    if (const Result<void> closed = output->close(); !closed) return fail(closed.error());
    reportTraceWarnings(**trace);
    return refusal.empty() ? exitOk : exitNoAnswer;
}

#ifdef LANESCOPE_HAS_CAPTURE
Result<int> runVerify(const WhatIfOptions& options) {
    Result<capture::RecordOptions> recording = RecordArguments().options();
    if (!recording) return fail(recording.error());
    recording->commandLine = options.words;
    const Result<VerifiedForecast> verified = verifyForecast(
        {std::move(*recording), changesOf(options).front(), options.selection, options.output, options.runs});
    if (!verified) return reportFailure(verified.error(), exitNoAnswer);
    const Result<void> printed = printOutput(options.format == "json" ? verified->json() : verified->text());
    if (!printed) return fail(printed.error());
    if (!verified->isDecided()) return exitNoAnswer;
    return verified->isInside() ? exitOk : exitMet;
}

void addVerify(CLI::App& command, WhatIfOptions& options) {
    command.add_flag("--verify", options.isVerified,
                     "Test a forecast: run a program with the time of --add in its calls, in every second interval; "
                     "-o names the folder of the traces");
    help::addNumber(command, "--runs", "N", 1, 100, options.runs, "Slowed runs of --verify");
}
#else
Result<int> runVerify(const WhatIfOptions&) { return fail("This program cannot record."); }
#endif

/// Returns the problem of the arguments; empty if none.
std::string problemOf(const WhatIfOptions& options) {
    if (!options.isVerified)
        return options.words.size() == 1 ? "" : "Name one trace. Only --verify takes a program and its arguments.";
    const bool isOneAddition = options.additions.size() == 1 && options.scales.empty() && options.removals.empty();
    return isOneAddition ? "" : "--verify tests one --add, for example --add launch=20us, and no other change.";
}

}  // namespace

void addWhatIf(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<WhatIfOptions>();
    CLI::App* command = app.add_subcommand("whatif", "Forecast the step time with changes");
    command->add_option("FILE", options->words, readableFormats())->required();
    help::addRepeated(*command, "--scale", "PART=FACTOR", causality::parseScale, options->scales,
                      "Multiply the time of a part: 'kernel:NAME=0.5' (a part of the name, or * as a wildcard), "
                      "'family:NAME', 'line:FILE:LINE', 'rank:N', 'copy:HtoD', 'kernels', 'nccl', 'memset', 'launch', "
                      "'sync', 'allocation', 'host' or 'loader'; repeatable");
    help::addRepeated(*command, "--no", "PART", causality::parseRemoval, options->removals,
                      "Remove a part and what it waits for: 'loader'; repeatable");
    help::addRepeated(
        *command, "--add", "PART=TIME", causality::parseAddition, options->additions,
        "Add a time to each call: 'launch=20us', 'sync=1ms', 'allocation', 'line:FILE:LINE' or 'rank:N'; repeatable");
    addStepOptions(*command, options->selection);
    addFormat(*command, options->format, {"text", "json"});
    addOutputFile(*command, options->output);
#ifdef LANESCOPE_HAS_CAPTURE
    addVerify(*command, *options);
#endif
    command->footer(
        "Exits with 3 if the recorded causes do not explain the steps, or a part is not in them; with 1 if --verify\n"
        "measures another time than forecast.\n\n"
        "Examples:\n"
        "  lanescope whatif run.sqlite --scale 'kernel:gemm=0.5' --scale 'nccl=0'\n"
        "  lanescope whatif run.sqlite --no loader -f json"
#ifdef LANESCOPE_HAS_CAPTURE
        "\n  lanescope whatif --verify --add launch=20us -- python train.py"
#endif
    );
    command->callback([options, &exitStatus] {
        if (const std::string problem = problemOf(*options); !problem.empty())
            exitStatus = reportFailure({problem}, exitUsage);
        else
            exitStatus = statusOf(options->isVerified ? runVerify(*options) : runWhatIf(*options));
    });
}

}  // namespace lanescope::cli
