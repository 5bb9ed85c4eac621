// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "capture/collector/Collector.h"
#include "model/format/Result.h"

namespace lanescope::capture {

struct RecoverOptions {
    std::filesystem::path runFolder;
    std::filesystem::path output;  ///< Empty: the name that the trace would have had.
    bool overwrite = false;
    ClosingSteps closing;
};

/// Makes a trace of the logs that a recording left behind, whatever there is of them. The logs
/// stay. Fails if the folder holds no log or is still being recorded, or the trace cannot be
/// written.
Result<CollectedRun> recover(const RecoverOptions& options);

}  // namespace lanescope::capture
