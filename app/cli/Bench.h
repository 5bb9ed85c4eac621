// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/recordRun.h"
#include "capture/record/Recorder.h"
#include "model/compare/CompareSelection.h"
#include "model/compare/RunComparison.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// The two commands of a bench: A, the baseline, and B, the candidate.
enum class BenchSide { Baseline, Candidate };
inline constexpr std::array benchSides{BenchSide::Baseline, BenchSide::Candidate};

/// The folder that a bench leaves its traces in, and what it prints beside them: A1.sqlite, A1.log,
/// B1.sqlite ...
class BenchFolder {
  public:
    /// Makes `folder`, or takes it if it is empty; with an empty name makes "lanescope-bench-1", or
    /// the next that is not there.
    static Result<BenchFolder> make(const std::string& folder);

    const std::filesystem::path& path() const { return path_; }
    /// "B3".
    static std::string runName(BenchSide side, int round);
    std::filesystem::path trace(BenchSide side, int round) const;
    /// What the run printed; of warm-ups, which have no round, all in one.
    std::filesystem::path log(BenchSide side, int round) const;
    std::filesystem::path warmUpLog(BenchSide side) const;
    /// Removes what a run left that is not whole, but for its log.
    void removeTrace(BenchSide side, int round) const;

  private:
    std::filesystem::path path_;
};

/// What a bench is asked for.
struct BenchOptions {
    capture::RecordOptions recording;  ///< Of each run; without program and name of the trace.
    std::array<std::vector<std::string>, 2> programs;  ///< With their arguments; by `BenchSide`.
    CompareSelection selection;                        ///< Of the steps that are compared.
    int mostRounds = 10;                               ///< At least 2.
    int warmUps = 1;                                   ///< Runs of each that nobody records.
};

/// Records two programs by turns, A B A B, until the difference is known well enough
/// (`compare::areEnough`) or the rounds are over. By turns, so that a machine that grows warm or
/// busy does so under both. Says how it goes. Each run is recorded in a process of its own, as
/// `record` would.
class Bench {
  public:
    Bench(const BenchOptions& options, const BenchFolder& folder)
        : options_(options), folder_(folder) {}

    /// Runs it all. Fails with a sentence at the first run that fails or is interrupted; the traces
    /// of those before stay.
    Result<void> run();
    /// The number of the signal that interrupted it, else 0.
    int interruptedBy() const { return signals_.taken(); }
    /// The traces of a side, in their order.
    std::vector<std::string> traces(BenchSide side) const;
    /// "The 6 traces of A1 to B3 are in FOLDER."; empty if there are none.
    std::string keptSentence() const;

  private:
    Result<void> warmUp(BenchSide side);
    Result<void> record(BenchSide side);
    /// Takes the summary of the run that was recorded last.
    Result<void> takeSummary(BenchSide side);
    /// Whether there are runs enough, once both sides have as many.
    Result<bool> areEnough();
    /// Why the run cannot count; empty if it can.
    std::string problemOf(const RunEnd& end, const std::string& run,
                          const std::filesystem::path& log) const;
    std::vector<analysis::RunSummary>& runsOf(BenchSide side) {
        return runs_[static_cast<size_t>(side)];
    }

    const BenchOptions& options_;
    const BenchFolder& folder_;
    RunSignals signals_;
    int round_ = 0;
    std::array<std::vector<analysis::RunSummary>, 2> runs_;
    std::vector<compare::Claim> claims_;  ///< After each round from the second on.
};

}  // namespace lanescope::cli
