// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>
#include <optional>

#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/help/HelpFormatter.h"

namespace lanescope::cli {

namespace {

struct CompareOptions {
    std::string baseline;                 ///< As a positional; one run per side.
    std::vector<std::string> candidates;  ///< As positionals, each a separate program.
    std::vector<std::string> baselineRuns, candidateRuns;  ///< As options instead.
    std::string output;
    ComparisonAnswer answer;
};

/// Sets the runs of both sides, given as positionals or as options, but not both.
Result<void> nameRuns(CompareOptions& options) {
    const std::string& history = options.answer.request.history;
    if (!history.empty() &&
        (options.baseline.empty() || !options.candidates.empty() || !options.baselineRuns.empty() ||
         !options.candidateRuns.empty() || !options.answer.request.earlier.empty()))
        return fail(
            "--history puts one run against those of a folder: name that run alone, --history DIR "
            "TRACE; --help tells more.");
    const bool areByOption = !options.baselineRuns.empty() || !options.candidateRuns.empty();
    if (areByOption && !options.baseline.empty())
        return fail(
            "Name the runs either as BASELINE CANDIDATE... or by --baseline and "
            "--candidate, not both; --help tells more.");
    if (areByOption && (options.baselineRuns.empty() || options.candidateRuns.empty()))
        return fail(
            "--baseline and --candidate go together: name the runs of both sides; --help tells "
            "more.");
    if (!areByOption && options.candidates.empty() && !options.answer.request.earlier.empty())
        return fail(
            "--spread took every file behind it for an earlier run: name the two that are compared "
            "before it, BASELINE CANDIDATE --spread EARLIER EARLIER; --help tells more.");
    if (!areByOption && options.candidates.empty() && history.empty())
        return fail(
            "Name two runs, BASELINE and CANDIDATE, or several a side by --baseline and "
            "--candidate; --help tells more.");
    const Result<void> asked = options.answer.check();
    if (!asked) return asked;
    if (!history.empty()) {
        options.answer.request.candidates = {{options.baseline}};
    } else if (areByOption) {
        options.answer.request.baseline = options.baselineRuns;
        options.answer.request.candidates = {options.candidateRuns};
    } else {
        options.answer.request.baseline = {options.baseline};
        for (const std::string& file : options.candidates)
            options.answer.request.candidates.push_back({file});
    }
    return checkFiles(options.answer.request);
}

int runCompare(CompareOptions& options) {
    const Result<void> named = nameRuns(options);
    if (!named) {
        reportFailure(named.error());
        return exitUsage;
    }
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
            "Where each run begins. step: with the first step after warm-up (default); start: "
            "with its very first; RANGE or RANGE#K: with the first step from the K-th NVTX "
            "range of that name on, where --steps then counts from")
        ->type_name("WHERE")
        ->check([](const std::string& text) {
            CompareSelection ignored;
            return checkText(parseAlignment(text, ignored));
        });
}

}  // namespace

void addCompare(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        app.add_subcommand("compare", "Say whether runs are slower than another, and why");
    command->add_option("BASELINE", options->baseline, "The run to compare against");
    command->add_option("CANDIDATE", options->candidates,
                        "The run that is asked about, or several, each of another program");
    command
        ->add_option("--baseline", options->baselineRuns,
                     "Several runs of the program to compare against; needs --candidate")
        ->type_name("TRACE");
    command
        ->add_option("--candidate", options->candidateRuns,
                     "Several runs of the program that is asked about; needs --baseline")
        ->type_name("TRACE");
    command
        ->add_option("--spread", options->answer.request.earlier,
                     "Earlier runs of one of the programs, at least two: how much its runs "
                     "differ from each other; of a folder those of the same command and machine; "
                     "stands behind the runs that are compared")
        ->type_name("TRACE");
    command
        ->add_option("--history", options->answer.request.history,
                     "A folder: puts the one run that is named against the earlier runs of its "
                     "command on its machine there, and says where their level changed")
        ->type_name("DIR");
    help::acceptNumber(command->add_option("--last", options->answer.request.historyRuns,
                                           "With --history: the last so many of them"),
                       "N", 3, 10'000)
        ->capture_default_str();
    addSelectionOptions(*command, options);
    options->answer.addTo(*command);
    help::acceptOutputPath(
        command->add_option("-o,--output", options->output, "File to write instead of stdout"),
        "FILE");
    command->footer(compareHelp());
    command->callback([options, &exitStatus] { exitStatus = runCompare(*options); });
}

}  // namespace lanescope::cli
