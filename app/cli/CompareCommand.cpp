// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>

#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"

namespace lanescope::cli {

namespace {

struct CompareOptions {
    std::string baseline;                                  ///< As a positional; one run per side.
    std::vector<std::string> candidates;                   ///< As positionals, each a separate program.
    std::vector<std::string> baselineRuns, candidateRuns;  ///< As options instead.
    std::string output;
    ComparisonAnswer answer;
};

/// Sets the runs of both sides, given as positionals or as options, but not both.
Result<void> nameRuns(CompareOptions& options) {
    const std::string& history = options.answer.request.history;
    if (!history.empty() && (options.baseline.empty() || !options.candidates.empty() || !options.baselineRuns.empty() ||
                             !options.candidateRuns.empty() || !options.answer.request.earlier.empty()))
        return fail(
            "--history: compares one run with those of a folder. Name one run: --history DIR TRACE. See --help.");
    const bool areByOption = !options.baselineRuns.empty() || !options.candidateRuns.empty();
    if (areByOption && !options.baseline.empty())
        return fail(
            "Name the runs either as BASELINE CANDIDATE... or with --baseline and --candidate, not both. See --help.");
    if (areByOption && (options.baselineRuns.empty() || options.candidateRuns.empty()))
        return fail("--baseline and --candidate go together. Name the runs of both sides. See --help.");
    if (!areByOption && options.candidates.empty() && !options.answer.request.earlier.empty())
        return fail(
            "--spread: consumed all files after it as earlier runs. Name the two compared runs "
            "first: BASELINE CANDIDATE --spread EARLIER EARLIER. See --help.");
    if (!areByOption && options.candidates.empty() && history.empty())
        return fail(
            "Give two runs, BASELINE and CANDIDATE, or several per side with --baseline and --candidate. See --help.");
    if (const Result<void> asked = options.answer.check(); !asked) return asked;
    if (!history.empty()) {
        options.answer.request.candidates = {{options.baseline}};
    } else if (areByOption) {
        options.answer.request.baseline = options.baselineRuns;
        options.answer.request.candidates = {options.candidateRuns};
    } else {
        options.answer.request.baseline = {options.baseline};
        for (const std::string& file : options.candidates) options.answer.request.candidates.push_back({file});
    }
    return checkFiles(options.answer.request);
}

int runCompare(CompareOptions& options) {
    if (const Result<void> named = nameRuns(options); !named) return reportFailure(named.error(), exitUsage);
    return options.answer.compareAndPrint(options.output);
}

void addSelectionOptions(CLI::App& command, const std::shared_ptr<CompareOptions>& options) {
    addStepOptions(command, options->answer.request.selection);
    command
        .add_option_function<std::string>(
            "--align",
            [options](const std::string& text) {
                (void)parseAlignment(text, options->answer.request.selection);  // checked before
            },
            "Start of each run. step: the first step after warm-up (default); start: the very first step; RANGE or "
            "RANGE#K: the first step at or after the K-th NVTX range of that name; --steps then counts from there")
        ->type_name("WHERE")
        ->check([](const std::string& text) {
            CompareSelection ignored;
            return help::checkText(parseAlignment(text, ignored));
        });
}

}  // namespace

void addCompare(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command = app.add_subcommand("compare", "Compare runs: is one slower, and why");
    command->add_option("BASELINE", options->baseline, "The run to compare with");
    command->add_option("CANDIDATE", options->candidates, "The run to check, or several, each of another program");
    help::addValue(*command, "--baseline", "TRACE", options->baselineRuns,
                   "Several runs of the baseline program; needs --candidate");
    help::addValue(*command, "--candidate", "TRACE", options->candidateRuns,
                   "Several runs of the candidate program; needs --baseline");
    help::addValue(*command, "--spread", "TRACE", options->answer.request.earlier,
                   "Earlier runs of one of the programs (at least two), to measure the spread between its runs. Of a "
                   "folder: its runs of the same command and machine. Put --spread after the runs");
    help::addValue(*command, "--history", "DIR", options->answer.request.history,
                   "Compare the given run with the earlier runs of the same command and machine in this folder, and "
                   "report lasting shifts");
    help::addNumber(*command, "--last", "N", 3, 10'000, options->answer.request.historyRuns,
                    "With --history: use only the last N runs");
    addSelectionOptions(*command, options);
    options->answer.addTo(*command);
    addOutputFile(*command, options->output);
    command->footer(compareHelp());
    command->callback([options, &exitStatus] { exitStatus = runCompare(*options); });
}

}  // namespace lanescope::cli
