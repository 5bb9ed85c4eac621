// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace lanescope {

/// Answers the messages of a viewer on two pipes until `input` ends, about these files only: pages of their indexes,
/// summaries, reports and SQL. Writes a missing index as `openTrace` does, and nothing else. No message can make it
/// fail. SIGPIPE must be ignored.
void serveTraces(const std::vector<std::filesystem::path>& files, int input, int output);

}  // namespace lanescope
