// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::capture {

/// Which of a launcher's processes a process says it is.
struct RankFacts {
    int64_t rank = 0;
    int64_t worldSize = 0;
    std::optional<int64_t> localWorldSize;  ///< How many of them run on its host.
    std::string host;
};

/// A sentence that names the ranks that left no record though others of their launch did, or
/// nothing if all are there. Of a launch on several hosts only the recorded hosts count.
std::optional<std::string> missingRanksSentence(const std::vector<RankFacts>& present);

}  // namespace lanescope::capture
