// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/UniqueFd.h"

namespace lanescope::capture {

/// A file of /proc or /sys that is kept open and read repeatedly.
class ProcFile {
  public:
    ProcFile() = default;
    explicit ProcFile(const std::string& path);

    bool isOpen() const { return descriptor_ >= 0; }
    /// Returns its present content; empty if it cannot be read any more. Valid until the next call
    /// with the same `buffer`, which is enlarged as needed.
    std::string_view read(std::vector<char>& buffer) const;

    /// Reads a file of one short line with one call.
    std::string_view readLine(std::vector<char>& buffer) const;

  private:
    UniqueFd descriptor_;
};

/// Removes the text up to and including `separator` from the front of `text` and returns it without
/// the separator; all of it if there is none.
std::string_view takeUntil(std::string_view& text, char separator);
/// Removes the next word from the front of `text` and returns it; empty if there is none.
std::string_view takeWord(std::string_view& text);
long long numberIn(std::string_view word, long long otherwise = 0);

/// Processes below a recorder, without its own samplers. Reads the threads of known processes only, never all of /proc.
class ProcessTree {
  public:
    explicit ProcessTree(pid_t root);

    /// Returns the running processes: the children of the first thread of each known process, or of
    /// all its threads with `ofAllThreads`.
    std::vector<pid_t> find(bool ofAllThreads);

  private:
    void addChildren(pid_t parent, bool ofAllThreads, std::vector<pid_t>& found);

    const pid_t root_;
    std::string ownProgram_;
    std::vector<pid_t> known_;  ///< Children of the recorder that do not run our own program.
    std::vector<char> buffer_;
};

}  // namespace lanescope::capture
