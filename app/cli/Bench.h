// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/recordRun.h"
#include "model/compare/CompareSelection.h"
#include "model/compare/RunComparison.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// The two programs of a bench: A, the baseline, and B, the candidate.
enum class BenchSide { Baseline, Candidate };
inline constexpr std::array benchSides{BenchSide::Baseline, BenchSide::Candidate};

/// The folder of a bench's traces and their output: A1.sqlite, A1.log, B1.sqlite ...
class BenchFolder {
  public:
    /// Creates `folder`, or uses it if it is empty; an empty name creates "lanescope-bench-1", or the next free one.
    static Result<BenchFolder> make(const std::string& folder);

    const std::filesystem::path& path() const { return path_; }
    /// Returns, for example, "B3".
    static std::string runName(BenchSide side, int round);
    std::filesystem::path trace(BenchSide side, int round) const;
    /// Returns the log of a run's output; one file for all warm-ups, which have no round.
    std::filesystem::path log(BenchSide side, int round) const;
    std::filesystem::path warmUpLog(BenchSide side) const;

  private:
    std::filesystem::path path_;
};

/// The options of a bench.
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
    Bench(const BenchOptions& options, const BenchFolder& folder) : options_(options), folder_(folder) {}

    /// Runs all rounds. Fails with a sentence at the first run that fails or is interrupted; earlier traces are kept.
    Result<void> run();
    /// Returns the number of the signal that interrupted the bench, else 0.
    int interruptedBy() const { return supervisor_.received(); }
    /// Returns the traces of a side, in their order.
    std::vector<std::string> traces(BenchSide side) const;
    /// Returns, for example, "The 6 traces of A1 to B3 are in FOLDER."; empty if there are none.
    std::string keptSentence() const;

  private:
    Result<void> warmUp(BenchSide side);
    Result<void> record(BenchSide side);
    /// Returns true if no more runs are needed. Call when both sides have equally many.
    Result<bool> areEnough();
    std::vector<analysis::RunSummary>& runsOf(BenchSide side) { return runs_[static_cast<size_t>(side)]; }

    const BenchOptions& options_;
    const BenchFolder& folder_;
    RecordSupervisor supervisor_;
    int round_ = 0;
    std::array<std::vector<analysis::RunSummary>, 2> runs_;
    std::vector<compare::Claim> claims_;  ///< After each round from the second on.
};

}  // namespace lanescope::cli
