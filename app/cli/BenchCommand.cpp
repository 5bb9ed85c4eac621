// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/Bench.h"
#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/commandOptions.h"
#include "app/cli/recordRun.h"
#include "app/help/HelpFormatter.h"

namespace lanescope::cli {

namespace {

constexpr double maxRuns = 1000;
constexpr const char* separator = "---";

struct BenchArguments {
    RecordArguments recording;
    ComparisonAnswer answer;
    std::vector<std::string> words;  ///< Both programs, with "---" between them.
    std::string folder;
    int runs = 10;
    int warmUps = 1;
};

/// Converts the arguments; fails with a sentence for invalid ones.
Result<BenchOptions> optionsOf(const BenchArguments& arguments) {
    if (const Result<void> fits = arguments.answer.check(); !fits) return fail(fits.error());
    Result<capture::RecordOptions> recording = arguments.recording.options();
    if (!recording) return fail(recording.error());
    BenchOptions options;
    options.recording = std::move(*recording);
    options.selection = arguments.answer.request.selection;
    options.maxRounds = arguments.runs;
    options.warmUps = arguments.warmUps;
    const auto& words = arguments.words;
    const auto middle = std::ranges::find(words, separator);
    options.programs[0].assign(words.begin(), middle);
    if (middle != words.end()) options.programs[1].assign(middle + 1, words.end());
    if (options.programs[0].empty() || options.programs[1].empty())
        return fail(
            "Name two programs, separated by ---: lanescope bench -- BASELINE ARGUMENTS --- "
            "CANDIDATE ARGUMENTS.");
    return options;
}

int runBench(BenchArguments& arguments) {
    const Result<BenchOptions> options = optionsOf(arguments);
    if (!options) {
        reportFailure(options.error());
        return exitUsage;
    }
    const Result<void> place = arguments.folder.empty() ? checkDefaultPlace() : Result<void>();
    const Result<BenchFolder> folder = place ? BenchFolder::make(arguments.folder) : fail(place.error());
    if (!folder) {
        reportFailure(folder.error());
        return exitNoAnswer;
    }
    Bench bench(*options, *folder);
    const Result<void> done = bench.run();
    if (!done) reportFailure(done.error());
    if (const std::string kept = bench.keptSentence(); !kept.empty()) printMessage(kept);
    if (!done) return bench.interruptedBy() != 0 ? 128 + bench.interruptedBy() : exitNoAnswer;
    ComparisonRequest& request = arguments.answer.request;
    request.baseline = bench.traces(BenchSide::Baseline);
    request.candidates = {bench.traces(BenchSide::Candidate)};
    return arguments.answer.compareAndPrint({});
}

}  // namespace

void addBench(CLI::App& app, int& exitStatus) {
    auto arguments = std::make_shared<BenchArguments>();
    CLI::App* command =
        app.add_subcommand("bench", "Run two programs alternately, record each run, and report which is slower");
    help::acceptNumber(
        command->add_option("--runs", arguments->runs,
                            "Maximum number of runs per program; fewer if the difference is known to 1 % earlier"),
        "N", 2, maxRuns)
        ->capture_default_str();
    help::acceptNumber(command->add_option("--warmup", arguments->warmUps, "Warm-up runs per program, not recorded"),
                       "K", 0, maxRuns)
        ->capture_default_str();
    help::acceptOutputPath(command->add_option("-o,--output", arguments->folder,
                                               "Folder for the traces and the output of the programs; new or empty "
                                               "(default: lanescope-bench-<n>)"),
                           "DIR");
    addStepRange(*command, arguments->answer.request.selection);
    arguments->answer.addTo(*command);
    arguments->recording.addRecordingOptions(*command);
    command
        ->add_option("PROGRAM", arguments->words,
                     "Both programs with their arguments: A... --- B...; A is the baseline, B the "
                     "candidate")
        ->required();
    command->footer(std::string(conditionsHelp()) +
                    R"(

Exit status:
  0  no condition is met
  1  a condition is met
  2  invalid command line
  3  no result: a run failed, there is nothing to compare, or a condition cannot be evaluated
  128 plus the signal number if a signal interrupted it

Examples:
  lanescope bench -- python train.py --- python train.py --compile
  lanescope bench --runs 5 -o bench -- ./main --steps 50 --- ./branch --steps 50
  lanescope bench --fail-if 'slower and step.p50 > +3%' -- ./main --- ./branch)");
    command->callback([arguments, &exitStatus] { exitStatus = runBench(*arguments); });
}

}  // namespace lanescope::cli
