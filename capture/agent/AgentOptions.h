#pragma once

#include <string>

namespace lanescope {

/// What the launcher asked of the agent, through `LANESCOPE_AGENT_DIR` (where logs go; without it
/// the agent does nothing) and `LANESCOPE_AGENT_OPTIONS` ("cuda=1,nvtx=1,api=filtered").
struct AgentOptions {
    std::string directory;
    bool recordCuda = true;
    bool recordNvtx = true;
    /// Also record CUDA calls that only ask for a property, such as cudaGetDevice: PyTorch makes
    /// more of them than of all others together.
    bool recordAllApiCalls = false;
    /// Where libcupti is, if not where the agent would look (`LANESCOPE_CUPTI`).
    std::string cuptiPath;

    bool isActive() const { return !directory.empty(); }
};

/// Reads the environment of the process. Unknown options are ignored: an older agent may meet a
/// newer launcher.
AgentOptions readAgentOptions();

}  // namespace lanescope
