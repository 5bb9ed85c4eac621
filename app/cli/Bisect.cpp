// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Bisect.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/cli/Output.h"
#include "app/cli/measureRun.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/RunComparison.h"
#include "model/compare/evaluateCondition.h"
#include "model/compare/judgeRuns.h"
#include "model/format/OutputFile.h"
#include "model/format/Subprocess.h"
#include "model/format/text.h"
#include "model/pages/makeComparison.h"

namespace lanescope::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t labelLength = 12;

/// Returns what git prints, without the last line feed. Its errors go to stderr. Hooks of the repository do not run.
Result<std::string> git(const std::vector<std::string>& words, const fs::path& folder = ".") {
    const fs::path program = findProgram("git");
    if (program.empty()) return fail("git: not found in PATH. Install it, or use --versions or --folders.");
    std::vector<std::string> all{"git", "-C", folder.string(), "-c", "core.hooksPath=/dev/null"};
    all.insert(all.end(), words.begin(), words.end());
    const std::vector<char*> pointers = pointersTo(all);
    Subprocess child = Subprocess::fork([&](int output) {
        ::dup2(output, STDOUT_FILENO);
        ::execv(program.c_str(), pointers.data());
        ::_exit(127);
    });
    if (child.pid() < 0) return fail("git: cannot start a process.");
    std::string text = child.output();
    const int status = child.wait();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail("git {}: failed.", fmt::join(words, " "));
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

/// Returns the word with all that is unusual in a file name replaced.
std::string labelOf(std::string_view text) {
    std::string label;
    for (const char letter : text.substr(0, 40))
        label += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_' ? letter : '_';
    return label;
}

/// Labels with the number of the state are distinct.
std::vector<HistoryState> numbered(const std::vector<std::string>& sources, std::string_view noun) {
    std::vector<HistoryState> states;
    for (const std::string& source : sources)
        states.push_back({fmt::format("{}.{}", states.size() + 1, labelOf(fs::path(source).filename().string())),
                          fmt::format("{} {}", noun, source), source});
    return states;
}

/// The current folder is another one during its lifetime.
class InFolder {
  public:
    explicit InFolder(const fs::path& folder) : before_(fs::current_path(ignored_)) {
        fs::current_path(folder, ignored_);
    }
    InFolder& operator=(InFolder&&) = delete;
    ~InFolder() { fs::current_path(before_, ignored_); }

  private:
    std::error_code ignored_;
    fs::path before_;
};

constexpr const char* planName = "bisect.json";
constexpr const char* brokenEnding = ".broken";
constexpr uint64_t maxPlanBytes = uint64_t{4} << 20;

/// The number of runs of both places that the final comparison needs.
constexpr size_t runsToCompare = 3;
/// Minimum of these runs after the difference of both ends is shown.
constexpr size_t freshRuns = 2;

}  // namespace

Result<BisectHistory> BisectHistory::ofCommits(const std::string& good, const std::string& bad) {
    std::array<std::string, 2> ends;
    for (size_t end = 0; end < ends.size(); ++end) {
        const std::string& name = end == 0 ? good : bad;
        Result<std::string> found = git({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
        if (!found) return fail("{}: no commit of this repository. Name two commits, tags or branches.", name);
        ends[end] = std::move(*found);
    }
    if (!git({"merge-base", "--is-ancestor", ends[0], ends[1]}))
        return fail("{} is no ancestor of {}. Use 'git merge-base {} {}' as GOOD.", good, bad, good, bad);
    const std::vector<std::string> format{"log", "--no-show-signature", "--format=%H%x09%s (%an, %as)"};
    std::vector<std::string> first = format, others = format;
    first.insert(first.end(), {"-1", ends[0]});
    others.insert(others.end(), {"--first-parent", "--reverse", ends[0] + ".." + ends[1]});
    const Result<std::string> firstLine = git(first), lines = git(others);
    const Result<std::string> root = git({"rev-parse", "--show-toplevel"}), below = git({"rev-parse", "--show-prefix"});
    if (!firstLine || !lines || !root || !below) return fail("The history cannot be read by git.");
    std::vector<HistoryState> states;
    for (std::string_view rest : {std::string_view(*firstLine), std::string_view(*lines)})
        while (!rest.empty()) {
            const std::string_view line = takeUntil(rest, '\n');
            if (line.find('\t') == std::string_view::npos) return fail("The history cannot be read by git.");
            const std::string number(line.substr(0, line.find('\t')));
            const std::string label = number.substr(0, labelLength);
            states.push_back({label, label + " " + std::string(line.substr(number.size() + 1)), number});
        }
    if (states.size() < 2) return fail("{} and {} are one commit. Name an earlier commit as GOOD.", good, bad);
    // First parents lead from BAD to GOOD, or past it.
    const Result<std::string> parent = git({"rev-parse", "--verify", "--quiet", states[1].source + "^1"});
    if (!parent || *parent != ends[0])
        return fail("{} is no first parent of {}: a merge brought it in. {}.", good, bad,
                    parent ? "Use " + parent->substr(0, labelLength) + ", where it branched off, as GOOD"
                           : "Name a commit of 'git log --first-parent'");
    BisectHistory history(Kind::Commits, std::move(states));
    history.repository_ = *root;
    history.subfolder_ = *below;
    return history;
}

Result<BisectHistory> BisectHistory::ofVersions(const std::string& command, const std::vector<std::string>& versions) {
    if (command.find("{}") == std::string::npos)
        return fail("--versions: \"{}\" has no {{}} for the version. Use, for example, 'pip install torch=={{}}'.",
                    command);
    // They become words of a shell.
    const auto isSafe = [](char each) {
        return isLetter(each) || isDigit(each) || std::string_view(".-_+!:~@").find(each) != std::string_view::npos;
    };
    for (const std::string& version : versions)
        if (version.empty() || version.front() == '-' || !std::ranges::all_of(version, isSafe))
            return fail("--versions: \"{}\" is no version. Use letters, digits and . - _ + ! : ~ @.", version);
    BisectHistory history(Kind::Versions, numbered(versions, "version"));
    history.command_ = command;
    return history;
}

Result<BisectHistory> BisectHistory::ofFolders(const std::vector<std::string>& folders) {
    std::vector<std::string> absolute;
    for (const std::string& folder : folders) {
        std::error_code error;
        absolute.push_back(fs::canonical(folder, error).string());
        if (error || !fs::is_directory(absolute.back(), error)) return fail("{}: no folder.", folder);
    }
    return BisectHistory(Kind::Folders, numbered(absolute, "folder"));
}

std::string_view BisectHistory::noun() const {
    return kind_ == Kind::Commits ? "commit" : kind_ == Kind::Versions ? "version" : "folder";
}

fs::path BisectHistory::defaultFolder() const {
    return kind_ == Kind::Commits ? fs::path(repository_.string() + "-bisect") : fs::path("lanescope-bisect");
}

void BisectHistory::setBuild(fs::path folder, std::string command) {
    worktrees_ = std::move(folder);
    if (kind_ != Kind::Versions) command_ = std::move(command);
}

fs::path BisectHistory::folderOf(size_t state) const {
    if (kind_ == Kind::Commits) return worktreeOf(state) / subfolder_;
    return kind_ == Kind::Folders ? fs::path(states_[state].source) : fs::path(".");
}

Result<void> BisectHistory::checkFolder(size_t state) const {
    std::error_code error;
    if (fs::is_directory(folderOf(state), error)) return {};
    return fail("{}: no such folder.", folderOf(state).string());
}

Result<void> BisectHistory::prepare(size_t state, RecordSupervisor& supervisor, const fs::path& log) {
    const std::string& source = states_[state].source;
    std::string command = command_;
    if (kind_ == Kind::Versions) {
        // All versions share one place.
        prepared_.assign(states_.size(), false);
        for (size_t at = 0; (at = command.find("{}", at)) != std::string::npos; at += source.size())
            command.replace(at, 2, source);
    }
    std::error_code error;
    if (kind_ == Kind::Commits && !fs::exists(worktreeOf(state), error)) {
        // One of an earlier search may have been removed by hand.
        static_cast<void>(git({"worktree", "prune"}, repository_));
        const Result<std::string> added =
            git({"worktree", "add", "--quiet", "--detach", worktreeOf(state).string(), source}, repository_);
        if (!added) return fail(added.error());
    }
    if (!command.empty()) {
        if (const Result<void> there = checkFolder(state); !there) return there;
        const InFolder place(folderOf(state));
        const Result<void> built =
            runUnrecorded(supervisor, {"/bin/sh", "-c", command}, "The build of " + states_[state].label, log);
        if (!built) return built;
    }
    prepared_[state] = true;
    return {};
}

void BisectHistory::removeWorktrees() const {
    if (kind_ != Kind::Commits) return;
    std::error_code error;
    for (size_t state = 0; state < states_.size(); ++state)
        if (fs::exists(worktreeOf(state), error) &&
            !git({"worktree", "remove", "--force", worktreeOf(state).string()}, repository_))
            reportWarning(worktreeOf(state).string() + ": the worktree stays. Remove it with 'git worktree remove'.");
}

using namespace analysis;
using bisect::SearchState;

std::string changeText(const bisect::ShownChange& change) {
    return fmt::format("{} % (95 % interval {} to {} %)", percentDifferenceText(100 * change.share),
                       percentDifferenceText(100 * change.low), percentDifferenceText(100 * change.high));
}

double BisectOptions::minChange() const {
    if (!metric || metric->tests.front().threshold.kind != compare::ThresholdKind::Percent)
        return compare::minRelevantPercent / 100;
    return std::max(std::abs(metric->tests.front().threshold.number), 0.1) / 100;
}

std::filesystem::path Bisect::logOf(size_t state, std::string_view what) const {
    return folder_ / fmt::format("{}-{}.log", history_.states()[state].label, what);
}

std::vector<std::string> Bisect::traces(size_t state) const {
    const auto found = traces_.find(state);
    return found == traces_.end() ? std::vector<std::string>() : found->second;
}

/// Accepts a new folder, an empty one, and that of the same search.
Result<void> Bisect::openFolder() {
    nlohmann::ordered_json states = nlohmann::ordered_json::array();
    for (const HistoryState& state : history_.states()) states.push_back(state.source);
    const nlohmann::ordered_json plan{
        {"states", states}, {"program", options_.recording.commandLine}, {"options", options_.shared}};
    const std::string text = plan.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (const Result<void> made = makePrivateFolders(folder_); !made) return made;
    Result<Folder> folder = Folder::open(folder_);
    if (!folder) return fail(folder.error());
    if (::flock(folder->descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("{}: another bisect uses this folder. Wait for its end, or choose another with -o.",
                    folder_.string());
    locked_ = std::move(*folder);
    std::error_code error;
    if (std::filesystem::is_empty(folder_, error)) return writeAtomically(folder_ / planName, text);
    const Result<std::string> earlier = readRegularFile(folder_ / planName, maxPlanBytes);
    if (earlier && *earlier == text) return {};
    return fail("{}: the folder has other files or another search. Choose another with -o.", folder_.string());
}

Result<void> Bisect::readEarlierRuns() {
    std::vector<std::string> names = locked_->names();
    std::ranges::sort(names);
    for (const std::string& name : names)
        for (size_t state = 0; state < history_.states().size(); ++state) {
            const std::string& label = history_.states()[state].label;
            if (name == label + brokenEnding) {
                skipped_.push_back(state);
                search_.exclude(state);
            } else if (name.ends_with("-" + label + ".sqlite")) {
                Result<RunSummary> run = summarizeFile((folder_ / name).string(), options_.selection, loadForCommand);
                number_ = std::max(number_, std::atoi(name.c_str()));
                // A run that was interrupted, or that has no metric, is made again.
                if (const Result<void> added = run ? add(state, folder_ / name, *run) : fail(run.error()); !added)
                    printMessage(fmt::format("{}: ignored. {}", name, added.error().sentence));
            }
        }
    if (search_.runs() > 0) printMessage(fmt::format("Continues after {} earlier runs.", search_.runs()));
    return {};
}

Result<double> Bisect::valueOf(const RunSummary& run) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex) return fail("The trace has no GPU work.");
    if (!options_.metric) return compare::stepsOf(run.workers[critical]).medianNs;
    const compare::RunComparison comparison =
        compare::compareRuns(compare::BaselineRun{first_ ? *first_ : run}, compare::CandidateRun{run});
    const compare::ConditionOutcome outcome = compare::evaluateCondition(*options_.metric, comparison);
    const compare::TestOutcome& test = outcome.tests.front();
    if (!test.candidate) return fail("{}: {}", options_.metricName(), outcome.sentence);
    const compare::Relation relation = options_.metric->tests.front().relation;
    const bool isLessWorse = relation == compare::Relation::Less || relation == compare::Relation::LessOrEqual;
    return isLessWorse ? -*test.candidate : *test.candidate;
}

Result<void> Bisect::add(size_t state, const std::filesystem::path& trace, const RunSummary& run) {
    const Result<double> value = valueOf(run);
    if (!value) return fail(value.error());
    if (!first_ && state == 0) first_ = run;
    traces_[state].push_back(trace.string());
    search_.addRun(state, *value);
    return {};
}

Result<void> Bisect::skip(size_t state, const std::string& reason) {
    const bool isEnd = state == 0 || state + 1 == history_.states().size();
    if (supervisor_.received() != 0 || isEnd) return fail("{}", reason);
    printMessage(fmt::format("{} Skipping {} {}.", reason, history_.noun(), history_.states()[state].label));
    skipped_.push_back(state);
    search_.exclude(state);
    return writeAtomically(folder_ / (history_.states()[state].label + brokenEnding), reason + "\n");
}

Result<void> Bisect::runOnce(size_t state) {
    const std::string& label = history_.states()[state].label;
    if (!history_.isPrepared(state)) {
        printMessage(fmt::format("Preparing {}.", history_.states()[state].title));
        if (const Result<void> ready = history_.prepare(state, supervisor_, logOf(state, "build")); !ready)
            return skip(state, ready.error().sentence);
        if (const Result<void> there = history_.checkFolder(state); !there) return skip(state, there.error().sentence);
        const InFolder place(history_.folderOf(state));
        for (int warmUp = 0; warmUp < options_.warmUps; ++warmUp) {
            const Result<void> warm = runUnrecorded(supervisor_, options_.recording.commandLine,
                                                    "The warm-up of " + label, logOf(state, "warm-up"));
            if (!warm) return skip(state, warm.error().sentence);
        }
    }
    const std::string name = fmt::format("{:05}-{}", ++number_, label);
    const RunFiles files{folder_ / (name + ".sqlite"), folder_ / (name + ".log")};
    if (const Result<void> there = history_.checkFolder(state); !there) return skip(state, there.error().sentence);
    Result<RunSummary> run = fail("");
    {
        const InFolder place(history_.folderOf(state));
        run = measureRun(supervisor_, options_.recording, "Run " + name, files, options_.selection);
    }
    if (!run) return skip(state, run.error().sentence);
    ++ownRuns_;
    const Result<void> added = add(state, files.trace, *run);
    return added ? added : skip(state, added.error().sentence);
}

Result<void> Bisect::run() {
    if (Result<void> opened = openFolder(); !opened) return opened;
    history_.setBuild(folder_, options_.build);
    if (Result<void> read = readEarlierRuns(); !read) return read;
    printPlan();
    Result<void> done = runSearch();
    if (!options_.keepsTrees) history_.removeWorktrees();
    return done;
}

Result<void> Bisect::runSearch() {
    while (!search_.isOver() && number_ < options_.maxRuns) {
        const SearchState before = search_.state();
        if (Result<void> done = runOnce(search_.next()); !done) return done;
        printProgress(before);
    }
    if (search_.state() != SearchState::Found) return {};
    const bisect::ChangePlace place = search_.likeliest();
    if (history_.states().size() == 2) return {};  // The proof alternates both.
    for (size_t round = 1; round <= runsToCompare; ++round)
        for (const size_t state : {place.before, place.state}) {
            const bool hasEnough =
                search_.runsOf(state) >= round && search_.runsSinceProof(state) >= std::min(round, freshRuns);
            if (hasEnough || search_.likeliest().state != place.state || number_ >= options_.maxRuns) continue;
            if (Result<void> done = runOnce(state); !done) return done;
        }
    return {};
}

int Bisect::plannedRuns() const {
    const auto places = static_cast<double>(history_.states().size() - 1);
    // The change is much larger than the noise.
    return static_cast<int>(std::ceil(bisect::informationBound(places, 1, 0.1).total()));
}

double Bisect::minutesFor(double runs) const {
    const std::chrono::duration<double, std::ratio<60>> spent = std::chrono::steady_clock::now() - begin_;
    return std::ceil(runs * spent.count() / ownRuns_);
}

void Bisect::printPlan() const {
    const size_t states = history_.states().size(), ends = 2 * bisect::ChangeSearch::minRunsPerEnd;
    printMessage(
        fmt::format("{} {}s from {} to {}. Plan: {} runs of both ends or more, until they differ. Then {} runs of "
                    "others or more, fewer builds. At most {} runs (--runs). Options: {}. Runs are kept in {}.",
                    states, history_.noun(), history_.states().front().label, history_.states().back().label, ends,
                    plannedRuns() - static_cast<int>(ends), options_.maxRuns,
                    options_.shared.empty() ? "none" : options_.shared, folder_.string()));
}

std::string Bisect::remainingSentence() const {
    const double runs = std::ceil(search_.expectedRuns());
    const std::string text = fmt::format("About {:.0f} more runs", runs);
    return ownRuns_ == 0 ? text : fmt::format("{}, {:.0f} min", text, minutesFor(runs));
}

void Bisect::printProgress(SearchState before) const {
    constexpr int runsToTime = 2;
    if (ownRuns_ == runsToTime && search_.state() == SearchState::Proof)
        printMessage(
            fmt::format("The planned {} runs take at least {:.0f} min.", plannedRuns(), minutesFor(plannedRuns())));
    if (search_.state() == SearchState::Proof) return;
    if (before == SearchState::Proof) {
        printMessage(
            fmt::format("The first and the last {} differ: {}.", history_.noun(), changeText(search_.change())));
        if (const auto control = search_.control())
            printMessage(fmt::format("Control, the first one against itself: {}.", changeText(*control)));
    }
    if (search_.isOver()) return;
    printMessage(fmt::format("After run {}, {} of {} {}s may be the cause. {}.", search_.runs(), search_.likelyPlaces(),
                             history_.states().size() - 1, history_.noun(), remainingSentence()));
}

}  // namespace lanescope::cli
