// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/Bisect.h"
#include "app/cli/ComparisonAnswer.h"
#include "app/cli/Output.h"
#include "app/cli/RecordArguments.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/shownNumbers.h"
#include "model/pages/makeComparison.h"

namespace lanescope::cli {

using bisect::ChangeSearch;
using bisect::SearchState;

namespace {

constexpr const char* programMark = "---";  ///< Inserted by `separateProgram`.
constexpr int schemaVersion = 1;
constexpr double maxBisectRuns = 100'000;

struct BisectArguments {
    RecordArguments recording;
    BisectOptions options;
    std::vector<std::string> words;  ///< States, the mark, and the program.
    std::vector<std::string> unused;
    std::string versions, folder, metric, format = "text";
    bool areFolders = false;
};

/// The states and the program of a command line.
struct BisectWords {
    std::vector<std::string> states, program;
};

Result<BisectWords> wordsOf(const BisectArguments& arguments) {
    const auto middle = std::ranges::find(arguments.words, programMark);
    BisectWords words{{arguments.words.begin(), middle}, {}};
    if (middle != arguments.words.end()) words.program.assign(middle + 1, arguments.words.end());
    const bool isList = arguments.areFolders || !arguments.versions.empty();
    if (words.program.empty()) return fail("Name the program after --: lanescope bisect GOOD BAD -- PROGRAM.");
    if (isList ? words.states.size() < 2 : words.states.size() != 2)
        return fail("Name {} before --.",
                    isList ? "at least two states, the good one first," : "two commits, GOOD BAD,");
    if (arguments.areFolders && !arguments.versions.empty()) return fail("Use either --versions or --folders.");
    return words;
}

Result<void> readMetric(BisectArguments& arguments) {
    if (arguments.metric.empty()) return {};
    Result<compare::Condition> metric = compare::parseCondition(arguments.metric);
    if (!metric) return fail(metric.error());
    const compare::Subject subject = metric->tests.front().subject;
    if (metric->tests.size() > 1 || subject == compare::Subject::Slower || subject == compare::Subject::Faster)
        return fail("--fail-if: bisect needs one quantity with a threshold, such as 'kernel \"*gemm*\" > 3%'.");
    arguments.options.metric = std::move(*metric);
    return {};
}

Result<BisectHistory> historyOf(const BisectArguments& arguments, const std::vector<std::string>& states) {
    if (!arguments.versions.empty()) return BisectHistory::ofVersions(arguments.versions, states);
    if (arguments.areFolders) return BisectHistory::ofFolders(states);
    return BisectHistory::ofCommits(states[0], states[1]);
}

/// The result of a search in words and for programs.
class BisectAnswer {
  public:
    BisectAnswer(const BisectOptions& options, const BisectHistory& history, const Bisect& bisect)
        : options_(options), history_(history), bisect_(bisect), search_(bisect.search()) {
        if (search_.state() == SearchState::Found || search_.state() == SearchState::Search)
            place_ = search_.likeliest();
        if (search_.state() == SearchState::Found) compareSides();
    }

    std::string text() const {
        std::vector<std::string> lines{sentence()};
        if (search_.runs() >= 2 * ChangeSearch::minRunsPerEnd) {
            lines.push_back(
                fmt::format("{}: {}, {} runs.", options_.metricName(), changeText(search_.change()), search_.runs()));
            if (const auto control = search_.control())
                lines.push_back(
                    fmt::format("Control, the first {} against itself: {}.", history_.noun(), changeText(*control)));
        }
        for (const size_t state : bisect_.skipped())
            lines.push_back(fmt::format("Skipped: {}.", history_.states()[state].title));
        lines.insert(lines.end(), cautions_.begin(), cautions_.end());
        if (!reason_.empty()) lines.insert(lines.end(), {"", reason_, "", "Details: " + command_});
        std::string text;
        for (const std::string& line : lines) text += printable(line) + "\n";
        return text;
    }

    std::string json() const {
        using Json = nlohmann::ordered_json;
        const auto changeJson = [](const bisect::ShownChange& change) {
            return Json{{"percent", 100 * change.share},
                        {"confidenceIntervalPercent", {100 * change.low, 100 * change.high}}};
        };
        Json states = Json::array(), skipped = Json::array();
        if (place_)
            for (size_t state = place_->before + 1; state <= place_->state; ++state)
                states.push_back(
                    {{"source", history_.states()[state].source}, {"title", history_.states()[state].title}});
        for (const size_t state : bisect_.skipped()) skipped.push_back(history_.states()[state].source);
        const bool isShown = search_.runs() >= 2 * ChangeSearch::minRunsPerEnd;
        const auto control = search_.control();
        const Json document{{"schema", "lanescope-bisect"},
                            {"version", schemaVersion},
                            {"outcome", outcome()},
                            {"sentence", sentence()},
                            {"metric", options_.metricName()},
                            {"states", std::move(states)},
                            {"probability", place_ ? Json(place_->probability) : Json(nullptr)},
                            {"change", isShown ? changeJson(search_.change()) : Json(nullptr)},
                            {"control", control ? changeJson(*control) : Json(nullptr)},
                            {"runs", search_.runs()},
                            {"skipped", std::move(skipped)},
                            {"reason", reason_},
                            {"cautions", cautions_},
                            {"command", command_}};
        return withoutControls(document.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
    }

    int status() const { return search_.state() == SearchState::Found ? exitOk : exitNoAnswer; }

  private:
    std::string_view outcome() const {
        switch (search_.state()) {
            case SearchState::Found: return "found";
            case SearchState::NoDifference: return "no_difference";
            case SearchState::OtherSide: return "better";
            case SearchState::Proof:
            case SearchState::Search: break;
        }
        return "undecided";
    }

    std::string sentence() const {
        const std::vector<HistoryState>& states = history_.states();
        if (search_.state() == SearchState::OtherSide)
            return fmt::format("{} is better than {}. Swap them to find the change.", states.back().title,
                               states.front().title);
        if (!place_) {
            const double shown = 100 * std::max(search_.change().high, options_.minChange());
            return fmt::format("No difference of more than {} % could be shown in {} runs.",
                               search_.state() == SearchState::NoDifference ? analysis::percentText(shown) : "any",
                               search_.runs());
        }
        if (search_.state() == SearchState::Search)
            return fmt::format(
                "Undecided after {} runs: {} places are likely, {} the most ({:.0f} %). The same command "
                "continues; raise --runs.",
                search_.runs(), search_.likelyPlaces(), states[place_->state].title, 100 * place_->probability);
        const size_t count = place_->state - place_->before;
        const std::string last = states[place_->state].title;
        if (count == 1)
            return fmt::format("The first worse {} is {} (probability {:.2f}).", history_.noun(), last,
                               place_->probability);
        return fmt::format(
            "The first worse {} is one of {}, the last of them {} (probability {:.2f}). The others could not be run.",
            history_.noun(), count, last, place_->probability);
    }

    /// Compares the runs before and after the change.
    void compareSides() {
        const auto own = search_.changeBetween(place_->before, place_->state);
        if (own && own->high < search_.change().low)
            cautions_.push_back(fmt::format(
                "By their own runs the two {}s differ only by {}. The machine may have become slower during "
                "the search.",
                history_.noun(), changeText(*own)));
        ComparisonRequest request{.baseline = bisect_.traces(place_->before),
                                  .candidates = {bisect_.traces(place_->state)},
                                  .selection = options_.selection};
        command_ = fmt::format("lanescope compare --baseline {} --candidate {}", fmt::join(request.baseline, " "),
                               fmt::join(request.candidates.front(), " "));
        const Result<report::ComparisonReport> report = makeComparison(request, loadForCommand);
        if (!report) return cautions_.push_back(report.error().sentence);
        const compare::Answer& answer = report->candidates.front().comparison.answer;
        reason_ = answer.sentence;
        cautions_.insert(cautions_.end(), answer.cautions.begin(), answer.cautions.end());
    }

    const BisectOptions& options_;
    const BisectHistory& history_;
    const Bisect& bisect_;
    const ChangeSearch& search_;
    std::optional<bisect::ChangePlace> place_;
    std::string reason_, command_;
    std::vector<std::string> cautions_;
};

/// Returns the options that were set, but for those of the search alone.
std::string sharedOptions(const CLI::App& command) {
    constexpr std::array<std::string_view, 6> ofSearch{"--runs",       "--output", "--format",
                                                       "--keep-trees", "STATE",    "PROGRAM"};
    std::string text;
    for (const CLI::Option* each : command.get_options()) {
        if (each->count() == 0 || std::ranges::find(ofSearch, each->get_name()) != ofSearch.end()) continue;
        text += (text.empty() ? "" : ", ") + each->get_name();
        const std::string value = fmt::format("{}", fmt::join(each->results(), " "));
        if (value != "true" && value != "false") text += " " + value;
    }
    return text;
}

int runBisect(BisectArguments& arguments) {
    const Result<BisectWords> words = wordsOf(arguments);
    Result<capture::RecordOptions> recording = words ? arguments.recording.options() : fail(words.error());
    const Result<void> metric = recording ? readMetric(arguments) : fail(recording.error());
    Result<BisectHistory> history = metric ? historyOf(arguments, words->states) : fail(metric.error());
    if (!history) return reportFailure(history.error(), exitUsage);
    arguments.options.recording = std::move(*recording);
    arguments.options.recording.commandLine = words->program;
    std::filesystem::path folder =
        arguments.folder.empty() ? history->defaultFolder() : std::filesystem::path(arguments.folder);
    folder = std::filesystem::absolute(folder).lexically_normal();
    Bisect bisect(arguments.options, *history, folder);
    if (const Result<void> done = bisect.run(); !done) {
        reportFailure(done.error());
        if (bisect.search().runs() > 0)
            printMessage(fmt::format("{} runs are kept in {}. The same command continues there.",
                                     bisect.search().runs(), folder.string()));
        return bisect.interruptedBy() != 0 ? 128 + bisect.interruptedBy() : exitNoAnswer;
    }
    const BisectAnswer answer(arguments.options, *history, bisect);
    const Result<void> printed = printOutput(arguments.format == "json" ? answer.json() : answer.text());
    return printed ? answer.status() : reportFailure(printed.error());
}

}  // namespace

void addBisect(CLI::App& app, int& exitStatus) {
    auto arguments = std::make_shared<BisectArguments>();
    CLI::App* command = app.add_subcommand("bisect", "Find the commit or version that made a program slower");
    help::addValue(*command, "--build", "COMMAND", arguments->options.build,
                   "Shell command that builds a commit or folder, run in it");
    help::addValue(*command, "--versions", "COMMAND", arguments->versions,
                   "The states are versions: shell command that installs one; {} is the version");
    command->add_flag("--folders", arguments->areFolders, "The states are folders");
    help::addNumber(*command, "--runs", "N", 8, maxBisectRuns, arguments->options.maxRuns,
                    "Maximum number of runs in all");
    help::addNumber(*command, "--warmup", "K", 0, maxBisectRuns, arguments->options.warmUps,
                    "Warm-up runs after each build, not recorded");
    help::addValue(
        *command, "--fail-if", "CONDITION", arguments->metric,
        "Search for a change of this quantity, such as 'kernel \"*gemm*\" > 3%' (default: median step, 1 %)");
    help::addOutputPath(
        *command, "-o,--output", "DIR", arguments->folder,
        "Folder for runs and worktrees; resumes what is there (default: <repository>-bisect or lanescope-bisect)");
    command->add_flag("--keep-trees", arguments->options.keepsTrees, "Keep the worktrees at the end");
    addStepRange(*command, arguments->options.selection);
    addFormat(*command, arguments->format, {"text", "json"});
    arguments->recording.addRecordingOptions(*command);
    command
        ->add_option("STATE", arguments->words, "GOOD and BAD commit, or all versions or folders, the good one first")
        ->required();
    // The parser leaves the command at "--" unless a positional is missing. STATE consumes its words, too.
    command->add_option("PROGRAM", arguments->unused, "After --: the program with its arguments");
    command->footer(R"(Exit status:
  0  the change was found
  2  invalid command line, or no such commits or folders
  3  no result: no difference, too few runs, or the first or last state failed
  128 plus the signal number if a signal interrupted it

Examples:
  lanescope bisect v1.2 main --build 'make -j8' -- ./train --steps 50
  lanescope bisect v1.2 main --fail-if 'kernel "*flash*" > 3%' -- python train.py
  lanescope bisect --versions 'pip install torch=={}' 2.8 2.9 2.10 2.11 -- python train.py
  lanescope bisect --folders monday tuesday today --build make -- ./train)");
    command->callback([arguments, command, &exitStatus] {
        arguments->options.shared = sharedOptions(*command);
        exitStatus = runBisect(*arguments);
    });
}

}  // namespace lanescope::cli
