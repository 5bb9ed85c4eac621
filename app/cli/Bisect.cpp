// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Bisect.h"

#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/cli/measureRun.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/RunComparison.h"
#include "model/compare/evaluateCondition.h"
#include "model/compare/judgeRuns.h"
#include "model/format/OutputFile.h"
#include "model/format/files.h"
#include "model/pages/makeComparison.h"

namespace lanescope::cli {

using namespace analysis;
using bisect::SearchState;

namespace {

constexpr const char* planName = "bisect.json";
constexpr const char* brokenEnding = ".broken";
constexpr uint64_t maxPlanBytes = uint64_t{4} << 20;

/// The number of runs of both places that the final comparison needs.
constexpr size_t runsToCompare = 3;
/// Minimum of these runs after the difference of both ends is shown.
constexpr size_t freshRuns = 2;

}  // namespace

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
