// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::capture {

/// A file of /proc or /sys that is kept open and read again and again.
class ProcFile {
  public:
    ProcFile() = default;
    explicit ProcFile(const std::string& path);
    ProcFile(ProcFile&& other) noexcept;
    ProcFile& operator=(ProcFile&& other) noexcept;
    ~ProcFile();

    bool isOpen() const { return descriptor_ >= 0; }
    /// What stands in it now; empty if it cannot be read any more. Lives until the next call with
    /// the same `buffer`, which is enlarged as needed.
    std::string_view read(std::vector<char>& buffer) const;

    /// The same of a file of one short line, by one call.
    std::string_view readLine(std::vector<char>& buffer) const;

  private:
    int descriptor_ = -1;
};

/// Takes the text up to `separator` from the front of `text`, and the separator; all of it if there
/// is none.
std::string_view takeUntil(std::string_view& text, char separator);
/// Takes the next word from the front of `text`; empty if there is none.
std::string_view takeWord(std::string_view& text);
/// The number that `word` begins with; `otherwise` if it is none.
long long numberIn(std::string_view word, long long otherwise = 0);

/// The processes below a recorder, without its own samplers. Looks at the threads of known
/// processes only, never at all of /proc.
class ProcessTree {
  public:
    explicit ProcessTree(pid_t root);

    /// Those that run now. Of each known process the children of its first thread; with
    /// `ofAllThreads` of all its threads.
    std::vector<pid_t> find(bool ofAllThreads);

  private:
    void addChildren(pid_t parent, bool ofAllThreads, std::vector<pid_t>& found);

    const pid_t root_;
    std::string ownProgram_;
    std::vector<pid_t> known_;  ///< Children of the recorder that do not run our own program.
    std::vector<char> buffer_;
};

}  // namespace lanescope::capture
