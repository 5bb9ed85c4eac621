// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/measureRun.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/CompareSelection.h"
#include "model/compare/RunComparison.h"
#include "model/compare/judgeRuns.h"
#include "model/format/Result.h"

namespace lanescope::cli {

using namespace analysis;
using namespace compare;

namespace {

/// The two programs of a bench: A, the baseline, and B, the candidate.
enum class BenchSide { Baseline, Candidate };
constexpr std::array benchSides{BenchSide::Baseline, BenchSide::Candidate};

std::string letter(BenchSide side) { return side == BenchSide::Baseline ? "A" : "B"; }

/// Returns, for example, "B3".
std::string runName(BenchSide side, int round) { return fmt::format("{}{}", letter(side), round); }

struct BenchOptions {
    capture::RecordOptions recording;                  ///< For each run; without program and trace name.
    std::array<std::vector<std::string>, 2> programs;  ///< With their arguments; by `BenchSide`.
    CompareSelection selection;                        ///< Selects the compared steps.
    int maxRounds = 10;                                ///< At least 2.
    int warmUps = 1;                                   ///< Unrecorded runs of each program before the measurement.
};

/// Records two programs alternately, A B A B, until the difference is known precisely enough
/// (`compare::areEnough`) or the rounds are over. Alternating distributes heat and load of the
/// machine over both. Reports progress. Records each run in a separate process, like `record`.
class Bench {
  public:
    Bench(const BenchOptions& options, const RunsFolder& folder) : options_(options), folder_(folder) {}

    /// Runs all rounds. Fails with a sentence at the first run that fails or is interrupted; earlier traces are kept.
    Result<void> run() {
        for (int warmUps = 0; warmUps < options_.warmUps; ++warmUps)
            for (const BenchSide side : benchSides)
                if (Result<void> done = warmUp(side); !done) return done;
        for (round_ = 1; round_ <= options_.maxRounds; ++round_) {
            for (const BenchSide side : benchSides)
                if (Result<void> done = record(side); !done) return done;
            const Result<bool> enough = areEnough();
            if (!enough) return fail(enough.error());
            if (*enough) break;
        }
        return {};
    }

    /// Returns the number of the signal that interrupted the bench, else 0.
    int interruptedBy() const { return supervisor_.received(); }
    /// Returns the traces of a side, in their order.
    std::vector<std::string> traces(BenchSide side) const {
        std::vector<std::string> files;
        for (size_t run = 1; run <= runs_[static_cast<size_t>(side)].size(); ++run)
            files.push_back(folder_.files(runName(side, static_cast<int>(run))).trace.string());
        return files;
    }

    /// Returns, for example, "The 6 traces of A1 to B3 are in FOLDER."; empty if there are none.
    std::string keptSentence() const {
        const size_t count = runs_[0].size() + runs_[1].size();
        if (count == 0) return {};
        const std::string names = count == 1 ? "The trace of A1 is"
                                  : count == 2
                                      ? "The traces of A1 and B1 are"
                                      : fmt::format("The {} traces, A1 to {}{}, are", count,
                                                    runs_[0].size() > runs_[1].size() ? "A" : "B", runs_[0].size());
        return fmt::format("{} in {}.", names, folder_.path().string());
    }

  private:
    Result<void> warmUp(BenchSide side) {
        printMessage(fmt::format("{}: warm-up, not recorded.", letter(side)));
        return runUnrecorded(supervisor_, options_.programs[static_cast<size_t>(side)],
                             "The warm-up of " + letter(side), folder_.files(letter(side) + "-warm-up").log);
    }

    Result<void> record(BenchSide side) {
        capture::RecordOptions options = options_.recording;
        options.commandLine = options_.programs[static_cast<size_t>(side)];
        const std::string run = runName(side, round_);
        printMessage(fmt::format("{}: recording, round {} of at most {}.", run, round_, options_.maxRounds));
        Result<RunSummary> summary =
            measureRun(supervisor_, options, "Run " + run, folder_.files(run), options_.selection);
        if (!summary) return fail(summary.error());
        runsOf(side).push_back(std::move(*summary));
        return {};
    }

    /// Returns true if no more runs are needed. Call when both sides have equally many.
    Result<bool> areEnough() {
        if (round_ < 2) return false;
        const Result<ProgramComparison> compared =
            comparePrograms(runsOf(BenchSide::Baseline), runsOf(BenchSide::Candidate));
        if (!compared) return fail(compared.error());
        const WorkerComparison* pair = compared->comparison.criticalPair();
        if (!pair) return false;
        claims_.push_back(pair->claim);
        const bool areThey = compare::areEnough(claims_);
        printMessage(fmt::format("Round {}: the difference is known to within {} %{}.", round_,
                                 percentText(reachPercent(pair->claim)),
                                 areThey && round_ < options_.maxRounds ? "; stopping" : ""));
        return areThey;
    }

    std::vector<analysis::RunSummary>& runsOf(BenchSide side) { return runs_[static_cast<size_t>(side)]; }

    const BenchOptions& options_;
    const RunsFolder& folder_;
    RecordSupervisor supervisor_;
    int round_ = 0;
    std::array<std::vector<analysis::RunSummary>, 2> runs_;
    std::vector<compare::Claim> claims_;  ///< After each round from the second on.
};

constexpr double maxRuns = 1000;
constexpr const char* separator = "---";

struct BenchArguments {
    RecordArguments recording;
    ComparisonAnswer answer;
    BenchOptions options;
    std::vector<std::string> words;  ///< Both programs, with "---" between them.
    std::string folder;
};

/// Returns all options; fails with a sentence for invalid arguments.
Result<BenchOptions> optionsOf(const BenchArguments& arguments) {
    if (const Result<void> fits = arguments.answer.check(); !fits) return fail(fits.error());
    Result<capture::RecordOptions> recording = arguments.recording.options();
    if (!recording) return fail(recording.error());
    BenchOptions options = arguments.options;
    options.recording = std::move(*recording);
    options.selection = arguments.answer.request.selection;
    const auto& words = arguments.words;
    const auto middle = std::ranges::find(words, separator);
    options.programs[0].assign(words.begin(), middle);
    if (middle != words.end()) options.programs[1].assign(middle + 1, words.end());
    if (options.programs[0].empty() || options.programs[1].empty())
        return fail(
            "Name two programs, separated by ---: lanescope bench -- BASELINE ARGUMENTS --- CANDIDATE ARGUMENTS.");
    return options;
}

int runBench(BenchArguments& arguments) {
    const Result<BenchOptions> options = optionsOf(arguments);
    if (!options) return reportFailure(options.error(), exitUsage);
    const Result<RunsFolder> folder = RunsFolder::make(arguments.folder, "bench");
    if (!folder) return reportFailure(folder.error(), exitNoAnswer);
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
    help::addNumber(*command, "--runs", "N", 2, maxRuns, arguments->options.maxRounds,
                    "Maximum number of runs per program; stops early once the difference is known to 1 %");
    help::addNumber(*command, "--warmup", "K", 0, maxRuns, arguments->options.warmUps,
                    "Warm-up runs per program, not recorded");
    help::addOutputPath(
        *command, "-o,--output", "DIR", arguments->folder,
        "Folder for the traces and the output of the programs; new or empty (default: lanescope-bench-<n>)");
    addStepRange(*command, arguments->answer.request.selection);
    arguments->answer.addTo(*command);
    arguments->recording.addRecordingOptions(*command);
    command
        ->add_option("PROGRAM", arguments->words,
                     "Both programs with their arguments: A... --- B...; A is the baseline, B the candidate")
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
