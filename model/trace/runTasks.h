// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace lanescope {

using Tasks = std::vector<std::function<void()>>;

/// Runs tasks that do not depend on each other on as many threads, this one among them; they are
/// begun in their order. Returns when all have ended. What one throws is thrown here, and those
/// that were not begun by then are left out.
void runTasks(unsigned threads, const Tasks& tasks);

}  // namespace lanescope
