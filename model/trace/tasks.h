// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

namespace lanescope {

/// Whether a pass over rows is to end before its time. Asks at few rows only, so that a pass may
/// ask at each. What such a pass made is of no use.
inline bool isStopped(const std::stop_token& stop, size_t row) {
    constexpr size_t rowsPerLook = 4096;
    return row % rowsPerLook == 0 && stop.stop_requested();
}

using Tasks = std::vector<std::function<void()>>;

/// Runs tasks that do not depend on each other on as many threads, this one among them; they are
/// begun in their order. Returns when all have ended. What one throws is thrown here, and those
/// that were not begun by then are left out.
void runTasks(unsigned threads, const Tasks& tasks);

}  // namespace lanescope
