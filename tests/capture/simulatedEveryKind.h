// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lanescope::test {

/// Writes into `folder` what a recorded run of tests/workloads/every_kind.cu on two GPUs would
/// leave: the log, session.json and, in output.txt, the program's output. All events are simulated:
/// equal counts of each kind, but each takes 10 us.
void writeSimulatedEveryKind(const std::filesystem::path& folder);

}  // namespace lanescope::test
