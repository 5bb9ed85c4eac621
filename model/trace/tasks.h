// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

namespace lanescope {

/// Returns true if a pass over rows must end early. Checks the token at few rows only, so it is
/// cheap at each row. The results of a stopped pass are invalid.
inline bool isStopped(const std::stop_token& stop, size_t row) {
    constexpr size_t rowsPerCheck = 4096;
    return row % rowsPerCheck == 0 && stop.stop_requested();
}

using Tasks = std::vector<std::function<void()>>;

/// Runs independent tasks on that many threads, including this one, started in order. Returns when
/// all have ended. Rethrows the first exception; tasks not started by then are skipped.
void runTasks(unsigned threads, const Tasks& tasks);

}  // namespace lanescope
