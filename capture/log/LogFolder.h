// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/RecordingLevel.h"

namespace lanescope::log {

/// Returns the names in a folder except "." and "..", unordered; empty if it cannot be read. Throws std::bad_alloc,
/// where the standard library's iterators would terminate the program: lack of memory must not lose a recording.
std::vector<std::string> namesIn(const std::filesystem::path& folder);

/// Suffix of the empty file that identifies a run folder. The rest of its name is the session, 32 random hexadecimal
/// digits that processes of the recording get by their environment.
inline constexpr std::string_view sessionEnding = ".session";

/// Run folder as a process of the recording uses it. Each call opens the folder, follows no link and verifies the
/// session, so that nothing is written into a folder of another recording or user. Files that cannot be opened are
/// requested at the recorder's door (`logDoor.h`). Holds no descriptor, because programs close unknown ones. Any
/// thread.
class LogFolder {
  public:
    /// Accesses nothing. An empty `session` is not verified; an empty `door` is none.
    explicit LogFolder(std::string path, std::string session = {}, std::string door = {});

    /// Creates a file that did not exist, for its owner only. Returns a descriptor for appending, or -1 with errno.
    int createFile(const std::string& name) const;
    /// Opens a file of this process for appending. Returns -1 with errno.
    int openFile(const std::string& name) const;
    /// Opens a named pipe for reading and writing, without waiting. Returns -1 with errno.
    int openPipe(const std::string& name) const;
    /// Removes a file of this process. Returns false with errno if the file may still exist.
    bool removeFile(const std::string& name) const;
    /// Returns the level of the run, `otherwise` without one, or nullopt if it cannot be read for now. Six system
    /// calls.
    std::optional<RunLevel> readLevel(RecordingLevel otherwise) const;
    /// Leaves a sign, or else tells the recorder, that the log `logName` cannot be written for the reason `error`.
    /// Returns false if neither is possible.
    bool leaveSign(const std::string& logName, int error, std::string_view program) const;

  private:
    int open() const;
    int openLog(const std::string& name, bool isNew) const;

    std::string path_, session_, door_;
};

}  // namespace lanescope::log
