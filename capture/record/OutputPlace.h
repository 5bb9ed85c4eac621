// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "capture/record/RunFolder.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// Where a recording leaves its trace, and the folder for its logs beside it. Who holds the folder
/// holds the name of the trace.
struct OutputPlace {
    std::filesystem::path trace;
    RunFolder logs;

    /// Takes the place that `pattern` names, checked as `checkOutput` does and, for a numbered
    /// pattern, with the first number that nobody has, though others may be choosing at the same
    /// time. `pid` is the program's. Leaves nothing behind when it fails.
    static Result<OutputPlace> claim(const std::string& pattern, int pid, bool overwrite,
                                     const RunInfo& info);
};

}  // namespace lanescope::capture
