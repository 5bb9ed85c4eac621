// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

namespace lanescope::capture {

/// Processes that came from this one and still run, whatever became of those between; none where
/// /proc does not answer. Reads all of /proc: not for a busy loop.
std::vector<pid_t> livingDescendants();

}  // namespace lanescope::capture
