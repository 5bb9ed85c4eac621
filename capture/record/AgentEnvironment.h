// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "capture/options/AgentOptions.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// Ways to load the agent into the program.
struct Injections {
    bool cuda = true, nvtx = true;
    bool nccl = false;  ///< As NCCL's profiler plugin.
};

/// Returns the absolute path of the agent: `given` if not empty, else the one of this program, next
/// to it in the build or installation. Fails if it does not exist.
Result<std::filesystem::path> findAgent(const std::filesystem::path& given);

/// Fails if the file is no Lanescope agent, with which nothing would be recorded. Does not load it.
Result<void> checkIsAgent(const std::filesystem::path& agent);

/// Fails if another tool has set the variables that load the agent, or if this process runs under
/// `lanescope record` itself.
Result<void> checkForOtherProfilers(const std::filesystem::path& agent, const Injections& injections);

/// Returns this process's environment plus the variables that load the agent, as "NAME=value".
/// `agentEntries` is the rest.
std::vector<std::string> agentEnvironment(const std::filesystem::path& agent, const Injections& injections);

/// Returns the entries with the agent's log folder, its session, options and clock. `baseRealtimeNs` is the time
/// from which delays count, `door` the name of a `LogDoor`.
std::vector<std::string> agentEntries(const std::filesystem::path& runFolder, const std::string& session,
                                      agent::AgentOptions options, int64_t baseRealtimeNs, const std::string& door);

}  // namespace lanescope::capture
