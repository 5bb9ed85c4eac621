// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Bench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commandOptions.h"
#include "app/cli/recordRun.h"
#include "capture/record/ChildProcess.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/judgeRuns.h"
#include "model/format/files.h"
#include "model/pages/makeComparison.h"
#include "model/system/system.h"

namespace lanescope::cli {

namespace {

namespace fs = std::filesystem;

std::string letter(BenchSide side) { return side == BenchSide::Baseline ? "A" : "B"; }

}  // namespace

Result<BenchFolder> BenchFolder::make(const std::string& folder) {
    BenchFolder made;
    std::error_code error;
    for (int number = 1; folder.empty(); ++number) {
        made.path_ = fmt::format("lanescope-bench-{}", number);
        if (::mkdir(made.path_.c_str(), 0700) == 0) return made;
        if (errno != EEXIST) return fail("Cannot make {}: {}.", made.path_.string(), std::strerror(errno));
    }
    made.path_ = folder;
    if (const Result<void> created = makePrivateFolders(made.path_); !created) return fail(created.error());
    if (!fs::is_empty(made.path_, error) || error)
        return fail("{}: the folder is not empty. Choose another with -o.", folder);
    // It may be a link to a folder on another disk.
    if (const fs::path real = fs::canonical(made.path_, error); !error && fs::is_symlink(made.path_, error))
        made.path_ = real;
    return made;
}

std::string BenchFolder::runName(BenchSide side, int round) { return fmt::format("{}{}", letter(side), round); }

std::filesystem::path BenchFolder::trace(BenchSide side, int round) const {
    return path_ / (runName(side, round) + ".sqlite");
}

std::filesystem::path BenchFolder::log(BenchSide side, int round) const {
    return path_ / (runName(side, round) + ".log");
}

std::filesystem::path BenchFolder::warmUpLog(BenchSide side) const { return path_ / (letter(side) + "-warm-up.log"); }

void BenchFolder::removeTrace(BenchSide side, int round) const {
    const std::string name = trace(side, round).filename().string();
    const Result<Folder> folder = Folder::open(path_);
    if (!folder) return;
    for (const std::string& each : folder->names())
        if (each.starts_with(name) || each.starts_with("." + name)) static_cast<void>(folder->removeAll(each));
}

using namespace analysis;
using namespace compare;

namespace {

/// Name patterns escape a percent sign by doubling it.
std::string patternOf(const std::filesystem::path& name) {
    std::string pattern;
    for (const char character : name.string()) {
        if (character == '%') pattern += '%';
        pattern += character;
    }
    return pattern;
}

std::vector<std::string> ownEnvironment() {
    std::vector<std::string> entries;
    for (char** entry = system::environment(); *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

/// Runs a program without the agent.
RunEnd runUnrecorded(const std::vector<std::string>& program) {
    const auto file = capture::findProgram(program.front());
    if (!file) return {exitFailed, false, file.error().error.sentence};
    auto child = capture::ChildProcess::fork(*file, program, ownEnvironment());
    if (!child) return {exitFailed, false, child.error().sentence};
    if (const auto begun = child->begin({}); !begun) return {exitFailed, false, begun.error().error.sentence};
    return {child->wait(), false, {}};
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<void> Bench::run() {
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

Result<void> Bench::warmUp(BenchSide side) {
    const std::vector<std::string>& program = options_.programs[static_cast<size_t>(side)];
    const std::string run = side == BenchSide::Baseline ? "A" : "B";
    printMessage(fmt::format("{}: warm-up, not recorded.", run));
    const std::filesystem::path log = folder_.warmUpLog(side);
    const RunEnd end = supervisor_.runInChild(log, [&] { return runUnrecorded(program); });
    const std::string problem = problemOf(end, "The warm-up of " + run, log);
    if (!problem.empty()) return fail("{}", problem);
    return {};
}

Result<void> Bench::record(BenchSide side) {
    capture::RecordOptions options = options_.recording;
    options.commandLine = options_.programs[static_cast<size_t>(side)];
    options.outputPattern = patternOf(folder_.trace(side, round_));
    const std::string run = BenchFolder::runName(side, round_);
    printMessage(fmt::format("{}: recording, round {} of at most {}.", run, round_, options_.maxRounds));
    const std::filesystem::path log = folder_.log(side, round_);
    options.closing = closeRecorded();
    const RunEnd end = supervisor_.record(options, log);
    std::string problem = problemOf(end, "Run " + run, log);
    if (problem.empty())
        if (const Result<void> received = readSummary(side); !received) problem = received.error().sentence;
    if (problem.empty()) return {};
    folder_.removeTrace(side, round_);
    return fail("{}", problem);
}

std::string Bench::problemOf(const RunEnd& end, const std::string& run, const std::filesystem::path& log) const {
    if (supervisor_.received() != 0) return fmt::format("{} was interrupted, so it does not count.", run);
    if (!end.problem.empty()) return fmt::format("{} failed: {}", run, firstLine(end.problem));
    if (end.exitStatus == 0 || end.wasEndedByUs) return {};
    return fmt::format("{}: exit status {}. Nothing to compare. Its output is in {}.", run, end.exitStatus,
                       log.string());
}

Result<void> Bench::readSummary(BenchSide side) {
    const std::string run = BenchFolder::runName(side, round_);
    Result<RunSummary> summary =
        summarizeFile(folder_.trace(side, round_).string(), options_.selection, loadForCommand);
    if (!summary) return fail(summary.error());
    const uint32_t critical = summary->criticalWorker();
    if (summary->isEmpty() || critical == noIndex)
        return fail("Run {}: no GPU activity was recorded. Nothing to compare.", run);
    const StepDistribution steps = stepsOf(summary->workers[critical]);
    printMessage(fmt::format("{}: median step {}, of {}.", run, timeText(steps.medianNs), steps.count));
    runsOf(side).push_back(std::move(*summary));
    return {};
}

Result<bool> Bench::areEnough() {
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

std::vector<std::string> Bench::traces(BenchSide side) const {
    std::vector<std::string> files;
    for (size_t run = 1; run <= runs_[static_cast<size_t>(side)].size(); ++run)
        files.push_back(folder_.trace(side, static_cast<int>(run)).string());
    return files;
}

std::string Bench::keptSentence() const {
    const size_t count = runs_[0].size() + runs_[1].size();
    if (count == 0) return {};
    const std::string names = count == 1 ? "The trace of A1 is"
                              : count == 2
                                  ? "The traces of A1 and B1 are"
                                  : fmt::format("The {} traces, A1 to {}{}, are", count,
                                                runs_[0].size() > runs_[1].size() ? "A" : "B", runs_[0].size());
    return fmt::format("{} in {}.", names, folder_.path().string());
}

}  // namespace lanescope::cli
