// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::capture {

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
