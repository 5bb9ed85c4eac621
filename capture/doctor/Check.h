// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lanescope::capture {

enum class CheckStatus { Ok, Warning, Failure };

/// One thing that recording needs or that is in its way.
struct Check {
    CheckStatus status = CheckStatus::Ok;
    std::string subject;   ///< For programs and the left column: "driver", "cupti".
    std::string sentence;  ///< What was found.
    std::string advice;    ///< What to do about it; empty if nothing.
};

/// True if no check failed: recording will work.
bool canRecord(const std::vector<Check>& checks);

}  // namespace lanescope::capture
