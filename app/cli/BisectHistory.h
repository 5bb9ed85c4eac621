// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/RecordSupervisor.h"
#include "model/format/Result.h"

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
    std::filesystem::path worktreeOf(size_t state) const;

    Kind kind_;
    std::vector<HistoryState> states_;
    std::vector<bool> prepared_;
    std::filesystem::path repository_, subfolder_;  ///< For commits: its root, and the current folder below it.
    std::filesystem::path worktrees_;
    std::string command_;
};

/// The current folder is another one during its lifetime.
class InFolder {
  public:
    explicit InFolder(const std::filesystem::path& folder);
    InFolder(const InFolder&) = delete;
    InFolder& operator=(const InFolder&) = delete;
    ~InFolder();

  private:
    std::filesystem::path before_;
};

}  // namespace lanescope::cli
