// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/format/Sqlite.h"

namespace lanescope::capture {

/// Which Python stacks looks from outside found, by thread and time, as they stand in a trace that
/// is being written. One thread.
class PythonLooks {
  public:
    /// A Python function in a stack; strings of the trace.
    struct Frame {
        int64_t parent = 0;  ///< Row of the stack without it; 0: none.
        int64_t function = 0, file = 0, line = 0;
    };
    /// Reads them. O(rows).
    static PythonLooks read(const Database& database);

    /// Whether nobody looked at any thread in Python.
    bool isEmpty() const { return runs_.empty(); }

    /// The stack of the look that is nearest to a moment, innermost first; nothing if none was
    /// within 20 ms of it. Valid until the next call.
    std::span<const Frame> at(int64_t globalTid, int64_t timeNs);

  private:
    struct Run {
        int64_t startNs, endNs, stack;
    };
    std::unordered_map<int64_t, std::vector<Run>> runs_;  ///< By thread, by start.
    std::unordered_map<int64_t, Frame> frames_;
    std::vector<Frame> found_;
};

}  // namespace lanescope::capture
