// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/RecordSupervisor.h"
#include "model/analysis/RunSummary.h"
#include "model/bisect/ChangeSearch.h"
#include "model/compare/CompareSelection.h"
#include "model/compare/Condition.h"
#include "model/format/Result.h"
#include "model/format/files.h"

namespace lanescope::cli {

/// A state of a program: a commit, a version or a folder.
struct HistoryState {
    std::string label;   ///< For file names: "1a2b3c4d5e6f", "2.10", "3-main".
    std::string title;   ///< For sentences: "1a2b3c4d5e6f Fuse the loss (Ada, 2026-11-02)".
    std::string source;  ///< Full commit number, version or folder.
};

/// The states of a program in their order, and how to prepare each for a run.
class BisectHistory {
  public:
    /// Reads the commits after GOOD up to BAD in the repository of the current folder, along first parents. Fails if
    /// they do not lead to GOOD.
    static Result<BisectHistory> ofCommits(const std::string& good, const std::string& bad);
    /// `command` with {} replaced by a version installs that version.
    static Result<BisectHistory> ofVersions(const std::string& command, const std::vector<std::string>& versions);
    static Result<BisectHistory> ofFolders(const std::vector<std::string>& folders);

    const std::vector<HistoryState>& states() const { return states_; }
    /// Returns "commit", "version" or "folder".
    std::string_view noun() const;
    /// Returns the default folder of the runs: next to the repository, so that its tree stays as it is.
    std::filesystem::path defaultFolder() const;
    /// Sets the folder of worktrees and the command that builds each state.
    void setBuild(std::filesystem::path folder, std::string command);
    /// Returns true if the state is ready to run.
    bool isPrepared(size_t state) const { return prepared_[state]; }
    /// Fails if the folder of a state is missing, in which its programs run.
    Result<void> checkFolder(size_t state) const;
    /// Makes the state ready: its worktree, its build, or the version's installation. Output goes to `log`.
    Result<void> prepare(size_t state, RecordSupervisor& supervisor, const std::filesystem::path& log);
    /// Returns the folder in which the program runs.
    std::filesystem::path folderOf(size_t state) const;
    void removeWorktrees() const;

  private:
    enum class Kind { Commits, Versions, Folders };
    BisectHistory(Kind kind, std::vector<HistoryState> states)
        : kind_(kind), states_(std::move(states)), prepared_(states_.size(), false) {}
    std::filesystem::path worktreeOf(size_t state) const { return worktrees_ / ("tree-" + states_[state].label); }

    Kind kind_;
    std::vector<HistoryState> states_;
    std::vector<bool> prepared_;
    std::filesystem::path repository_, subfolder_;  ///< For commits: its root, and the current folder below it.
    std::filesystem::path worktrees_;
    std::string command_;
};

struct BisectOptions {
    capture::RecordOptions recording;  ///< For each run; with the program, without trace name.
    std::string build;
    std::string shared;          ///< All options that its runs share, as written: "--warmup 0, --no-nvtx".
    bool keepsTrees = false;     ///< Keeps the worktrees at the end.
    CompareSelection selection;  ///< Selects the compared steps.
    std::optional<compare::Condition> metric;  ///< Its first quantity; the median step if missing.
    int maxRuns = 200;
    int warmUps = 1;  ///< Unrecorded runs after each build.

    std::string metricName() const { return metric ? metric->text : "median step"; }
    /// Returns the smallest relevant change, as a share: the threshold of the metric if that is a percentage.
    double minChange() const;
};

/// Runs the states of a history as `bisect::ChangeSearch` asks. Keeps each run in a folder, named by its number and
/// state, so that the same command continues there. Reports plan and progress.
class Bisect {
  public:
    /// `folder` is absolute.
    Bisect(const BisectOptions& options, BisectHistory& history, std::filesystem::path folder)
        : options_(options),
          history_(history),
          folder_(std::move(folder)),
          search_(history.states().size(), options.minChange()) {}

    /// Runs until the search is over or the runs are, and removes the worktrees. Fails with a sentence if an end cannot
    /// be run, on a signal, or if another search uses the folder; earlier runs are kept.
    Result<void> run();
    int interruptedBy() const { return supervisor_.received(); }
    const bisect::ChangeSearch& search() const { return search_; }
    /// Returns the traces of a state, in their order.
    std::vector<std::string> traces(size_t state) const;
    /// Returns the indices of states that could not be built or run.
    const std::vector<size_t>& skipped() const { return skipped_; }

  private:
    Result<void> openFolder();
    Result<void> runSearch();
    Result<void> readEarlierRuns();
    Result<void> runOnce(size_t state);
    /// Returns the number that the search compares, larger if worse.
    Result<double> valueOf(const analysis::RunSummary& run);
    /// Excludes a state for that reason; fails if it is an end or on a signal.
    Result<void> skip(size_t state, const std::string& reason);
    Result<void> add(size_t state, const std::filesystem::path& trace, const analysis::RunSummary& run);
    void printPlan() const;
    /// Returns the fewest runs that a search can need.
    int plannedRuns() const;
    /// Returns the expected minutes of further runs with their builds. Call after a run.
    double minutesFor(double runs) const;
    void printProgress(bisect::SearchState before) const;
    std::string remainingSentence() const;
    std::filesystem::path logOf(size_t state, std::string_view what) const;

    const BisectOptions& options_;
    BisectHistory& history_;
    std::filesystem::path folder_;
    std::optional<Folder> locked_;  ///< The same folder while this search has it.
    RecordSupervisor supervisor_;
    bisect::ChangeSearch search_;
    std::optional<analysis::RunSummary> first_;  ///< The first run of the first state, the baseline of the metric.
    std::map<size_t, std::vector<std::string>> traces_;
    std::vector<size_t> skipped_;
    int number_ = 0;  ///< Number of the latest run.
    int ownRuns_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Returns "+3.2 % (95 % interval +2.6 to +3.8 %)".
std::string changeText(const bisect::ShownChange& change);

}  // namespace lanescope::cli
