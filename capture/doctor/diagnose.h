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
    NoCuda,   ///< NVTX ranges can be recorded, what the GPUs do cannot.
    Failure,  ///< Nothing can be recorded.
};

/// One thing that recording needs or that is in its way.
struct Check {
    CheckStatus status = CheckStatus::Ok;
    std::string subject;   ///< For programs and the left column: "driver", "cupti".
    std::string sentence;  ///< What was found.
    std::string advice;    ///< What to do about it; empty if nothing.
};

/// The gravest of them; `Ok` of none.
CheckStatus gravestOf(const std::vector<Check>& checks);
/// True if nothing keeps CUDA and NVTX from being recorded.
bool canRecord(const std::vector<Check>& checks);

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

/// Runs `question` in a forked process without the variables that load tools, and returns the text
/// it gives. Nothing if it crashed or took over 20 s, as a broken driver may. Call it
/// single-threaded.
std::optional<std::string> probe(const std::function<std::string()>& question);

}  // namespace lanescope::capture
