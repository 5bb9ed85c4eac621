// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lanescope::test {

/// Leaves in `folder` what a recorded run of tests/workloads/every_kind.cu on two GPUs would: the
/// log, session.json and, in output.txt, what the program printed. All events are simulated: there
/// are as many of each kind, but each takes 10 us.
void writeSimulatedEveryKind(const std::filesystem::path& folder);

}  // namespace lanescope::test
