#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope {

/// What the agent is asked to record.
struct AgentRequest {
    bool cuda = true;
    bool nvtx = true;
    bool allApiCalls = false;  ///< Also CUDA calls that only ask, such as cudaGetDevice.
};

/// The agent: `given` if not empty, else the one that belongs to this program, beside it in the
/// build or installation. Absolute. Fails if it is not there.
Result<std::filesystem::path> findAgent(const std::filesystem::path& given);

/// Fails if the file is no agent of ours: nothing would be recorded with it. Does not load it.
Result<void> checkIsAgent(const std::filesystem::path& agent);

/// Fails if another tool has set the variables by which the agent is loaded, or if we run under
/// `lanescope record` ourselves.
Result<void> checkForRivals(const std::filesystem::path& agent, const AgentRequest& request);

/// Our environment with what the agent needs, as "NAME=value", but for the folder of its logs.
std::vector<std::string> agentEnvironment(const std::filesystem::path& agent,
                                          const AgentRequest& request);

/// The entry that says where the agent puts its logs.
std::string agentFolderEntry(const std::filesystem::path& runFolder);

}  // namespace lanescope
