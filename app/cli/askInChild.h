// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "model/format/Result.h"

namespace lanescope::cli {

/// What is printed on stdout, and what is said beside it.
struct Answer {
    std::string text;
    std::string warning;  ///< Empty if there is none.
};

/// What is to be asked: calls `begin` when all is ready, and `end` when the answer is known and has
/// only to be written down. What lies between is what may take time.
using Asking = std::function<Result<Answer>(const std::function<void()>& begin,
                                            const std::function<void()>& end)>;

/// Asks in a process of its own, which is ended when `time` is over: some functions of SQLite take
/// minutes and look at no clock. Where no process can be made it asks here. Errors: those of
/// `asking`; out of time; the process ended by itself, as one that the system ends for its memory.
/// Call it while there is one thread.
Result<Answer> askInChild(std::chrono::milliseconds time, const Asking& asking);

}  // namespace lanescope::cli
