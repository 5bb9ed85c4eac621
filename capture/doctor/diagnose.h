// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "capture/doctor/Check.h"

namespace lanescope::capture {

/// Looks at everything that recording on this machine, in this folder and environment needs. Takes
/// a second or two with a driver. `agent` as for `findAgent`.
std::vector<Check> diagnose(const std::filesystem::path& agent);

// Its parts, in its order.
Check checkDriver();
Check checkGpus();
/// Whether threads of other processes can be looked at; tries it with a child.
Check checkThreads();
/// Whether the kernel's perf events can be had, and what follows stacks; tries it on this process.
Check checkPerf();
Check checkAgent(const std::filesystem::path& agent);
Check checkCupti();
Check checkCounterPermission(const std::filesystem::path& driverParameters);
Check checkInjectionVariables(const std::filesystem::path& agent);
Check checkNcclVariables();
/// `processes` is /proc, or what a test puts in its place.
Check checkRivalProcesses(const std::filesystem::path& processes);
Check checkFolder(const std::filesystem::path& folder);

}  // namespace lanescope::capture
