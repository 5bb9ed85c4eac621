// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lanescope::capture {

enum class CheckStatus {
    Ok,
    Warning,
    NoCuda,   ///< NVTX ranges can be recorded, what the GPUs do cannot.
    Failure,  ///< Nothing can be recorded.
};

/// One thing that recording needs or that is in its way.
struct Check {
    CheckStatus status = CheckStatus::Ok;
    std::string subject;   ///< For programs and the left column: "driver", "cupti".
    std::string sentence;  ///< What was found.
    std::string advice;    ///< What to do about it; empty if nothing.
};

/// The gravest of them; `Ok` of none.
CheckStatus gravestOf(const std::vector<Check>& checks);
/// True if nothing keeps CUDA and NVTX from being recorded.
bool canRecord(const std::vector<Check>& checks);

}  // namespace lanescope::capture
