// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "capture/options/AgentOptions.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// What loads the agent into the program.
struct Injections {
    bool cuda = true, nvtx = true;
    bool nccl = false;  ///< As NCCL's profiler plugin.
};

/// The agent: `given` if not empty, else the one that belongs to this program, beside it in the
/// build or installation. Absolute. Fails if it is not there.
Result<std::filesystem::path> findAgent(const std::filesystem::path& given);

/// Fails if the file is no agent of ours: nothing would be recorded with it. Does not load it.
Result<void> checkIsAgent(const std::filesystem::path& agent);

/// Fails if another tool has set the variables by which the agent is loaded, or if we run under
/// `lanescope record` ourselves.
Result<void> checkForRivals(const std::filesystem::path& agent, const Injections& injections);

/// Our environment with what loads the agent, as "NAME=value". `agentEntries` is the rest.
std::vector<std::string> agentEnvironment(const std::filesystem::path& agent,
                                          const Injections& injections);

/// The entries that say where the agent puts its logs, what goes into them, and by which time;
/// `baseRealtimeNs` is the moment from which delays count, `door` the name of a `LogDoor`.
std::vector<std::string> agentEntries(const std::filesystem::path& runFolder,
                                      agent::AgentOptions options, int64_t baseRealtimeNs,
                                      const std::string& door);

}  // namespace lanescope::capture
