// SPDX-License-Identifier: Apache-2.0
#include "app/cli/BisectHistory.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "app/cli/Output.h"
#include "app/cli/measureRun.h"
#include "model/format/Subprocess.h"
#include "model/format/text.h"

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

}  // namespace

InFolder::InFolder(const fs::path& folder) {
    std::error_code error;
    before_ = fs::current_path(error);
    fs::current_path(folder, error);
}

InFolder::~InFolder() {
    std::error_code error;
    fs::current_path(before_, error);
}

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
    std::string_view rest = *firstLine;
    for (const std::string_view all : {std::string_view(*firstLine), std::string_view(*lines)})
        for (rest = all; !rest.empty();) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
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

fs::path BisectHistory::worktreeOf(size_t state) const { return worktrees_ / ("tree-" + states_[state].label); }

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

}  // namespace lanescope::cli
