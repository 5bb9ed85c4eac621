// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Bench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/measureRun.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/judgeRuns.h"
#include "model/format/files.h"

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

using namespace analysis;
using namespace compare;

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
    printMessage(fmt::format("{}: warm-up, not recorded.", letter(side)));
    return runUnrecorded(supervisor_, options_.programs[static_cast<size_t>(side)], "The warm-up of " + letter(side),
                         folder_.warmUpLog(side));
}

Result<void> Bench::record(BenchSide side) {
    capture::RecordOptions options = options_.recording;
    options.commandLine = options_.programs[static_cast<size_t>(side)];
    const std::string run = BenchFolder::runName(side, round_);
    printMessage(fmt::format("{}: recording, round {} of at most {}.", run, round_, options_.maxRounds));
    Result<RunSummary> summary =
        measureRun(supervisor_, options, "Run " + run, {folder_.trace(side, round_), folder_.log(side, round_)},
                   options_.selection);
    if (!summary) return fail(summary.error());
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
