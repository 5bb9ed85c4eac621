// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::capture {

enum class CheckStatus {
    Ok,
    Warning,
    NoCuda,   ///< NVTX ranges can be recorded, but no GPU activity.
    Failure,  ///< Nothing can be recorded.
};

/// Result of checking one requirement of, or obstacle to, recording.
struct Check {
    CheckStatus status = CheckStatus::Ok;
    std::string subject;   ///< Key for programs and the left column: "driver", "cupti".
    std::string sentence;  ///< The finding.
    std::string advice;    ///< Recommended action; empty if none.
};

/// Returns the most severe status; `Ok` without checks.
CheckStatus worstOf(const std::vector<Check>& checks);
bool canRecord(const std::vector<Check>& checks);

/// Checks everything that recording on this machine, in this folder and environment needs. Takes a
/// second or two with a driver. `agent` as for `findAgent`.
std::vector<Check> diagnose(const std::filesystem::path& agent);

Check checkDriver();
Check checkGpus();
/// Checks that threads of other processes can be sampled; tries it with a child.
Check checkThreads();
/// Checks that the kernel's perf events are available, and the stack unwinder; tries it on this process.
Check checkPerf();
Check checkAgent(const std::filesystem::path& agent);
Check checkCupti();
Check checkCounterPermission(const std::filesystem::path& driverParameters);
Check checkInjectionVariables(const std::filesystem::path& agent);
Check checkNcclVariables();
/// `processes` is /proc, or a test's replacement.
Check checkOtherProfilers(const std::filesystem::path& processes);
Check checkFolder(const std::filesystem::path& folder);

/// Runs `question` in a forked process without the variables that load tools, and returns its text. Returns nullopt if
/// it crashed or took over 20 s, as with a broken driver. Call it single-threaded.
std::optional<std::string> probe(const std::function<std::string()>& question);

}  // namespace lanescope::capture
