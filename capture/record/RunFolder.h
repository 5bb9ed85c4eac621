// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "capture/collector/Collector.h"
#include "capture/collector/RunInfo.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

struct OutputNameParts {
    int pid = 0;     ///< Process id of the program.
    int number = 1;  ///< Number of the trace among several of one name.
};

/// Expands a pattern for a file name: %p the program's process id, %n the number, %h the host, %q{NAME} the environment
/// variable NAME, %% a percent sign. Fails for anything else after a %, and for a variable that is not set.
Result<std::string> expandOutputPattern(std::string_view pattern, const OutputNameParts& parts);

/// Returns true if the pattern has a %n, so that a free name always exists.
bool isNumbered(std::string_view pattern);

/// Returns the pattern of a name, in which percent signs are doubled.
std::string patternOf(std::string_view name);

/// Returns "lanescope-<program>-%n.sqlite".
std::string defaultOutputPattern(const std::filesystem::path& program);

/// Fails if this process is one of several that a launcher started here and the pattern gives all
/// of them the same name.
Result<void> checkNameOfRank(std::string_view pattern);

/// Checks that a trace can be written at `output`. Its folder must exist and be writable, and no
/// file may exist there, or with `overwrite` at most a regular file.
Result<void> checkOutput(const std::filesystem::path& output, bool overwrite);

/// Returns the log folder of a run with the trace `output`: ".<name>.run" next to it.
std::filesystem::path runFolderFor(const std::filesystem::path& output);

std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder);

/// File with the end of the program. It has its final size from the start, so that a full disk does not matter.
inline constexpr const char* endFileName = "end.txt";

/// Part of the name of a folder with links to the logs of a watch, after the name of their run folder.
inline constexpr std::string_view linksMark = ".links-";

/// Begin of the name of a request for a trace in the run folder of a watch.
inline constexpr std::string_view watchRequestBegin = "request-";

/// Returns true for the name of a log or a further part of one, "<name>.log.1".
bool isLogFile(std::string_view name);

/// Returns the name of this host; "host" if it has none.
std::string hostName();

/// Folder for the logs of a run's processes, with a lock on its `session.json` as long as this
/// object lives, so that only one process collects it. Files are accessed in the folder that was
/// made or opened, whatever gets its name meanwhile. Movable.
class RunFolder {
  public:
    /// Makes `path`, which must not exist or be empty, accessible by its owner only, and writes `info` into it.
    static Result<RunFolder> create(const std::filesystem::path& path, const RunInfo& info);
    /// Takes over a folder that `record` left. Fails if it does not exist or is still being recorded.
    static Result<RunFolder> takeOver(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return folder_->path(); }
    std::shared_ptr<const Folder> folder() const { return folder_; }
    /// Returns the session that marks the folder, for `log::LogFolder`; empty if it was taken over.
    const std::string& session() const { return session_; }

    /// Notes the end of the program for a later recovery. Needs no space on the disk.
    void noteEnd(const MainProcess& program) const;
    /// Returns the end of the program; nullopt if it was not noted.
    std::optional<MainProcess> notedEnd() const;
    /// Deletes the logs, the facts of `record`, links to the logs, and the folder; keeps the folder if it contains
    /// anything else. A file with the name of a log that is none stays.
    void remove();

  private:
    explicit RunFolder(Folder folder) : folder_(std::make_shared<Folder>(std::move(folder))) {}
    Result<void> fill(const RunInfo& info);
    Result<void> lock();
    bool isOurs(const std::string& name) const;

    std::shared_ptr<Folder> folder_;
    std::string session_;
    UniqueFd lock_;
};

/// Path of a recording's trace, and the folder for its logs next to it. The owner of the folder
/// owns the name of the trace.
struct OutputPlace {
    std::filesystem::path trace;
    RunFolder logs;

    /// Claims the place named by `pattern`, checked like `checkOutput`. A numbered pattern gets the first free number,
    /// even if other processes are choosing at the same time or other users have left files there. `pid` is the
    /// program's. Leaves nothing on failure.
    static Result<OutputPlace> claim(const std::string& pattern, int pid, bool overwrite, const RunInfo& info);
};

struct RecoverOptions {
    std::filesystem::path runFolder;
    std::filesystem::path output;  ///< Empty: the name that the trace would have had.
    bool overwrite = false;
    ClosingSteps closing;
};

/// Makes a trace of the logs that a recording left, complete or not. The logs stay. Fails if the
/// folder contains no log or is still being recorded, or the trace cannot be written.
Result<CollectedRun> recover(const RecoverOptions& options);
/// Does the same with a folder that was taken over.
Result<CollectedRun> recoverLogs(const RunFolder& folder, const RecoverOptions& options);

}  // namespace lanescope::capture
