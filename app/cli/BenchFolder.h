// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>

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

}  // namespace lanescope::cli
