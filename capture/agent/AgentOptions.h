#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/agent/WindowOptions.h"

namespace lanescope::agent {

/// Which CUDA calls are recorded.
enum class ApiCalls {
    Filtered,  ///< The driver's calls, without those that only ask for or set a property.
    All,       ///< All of the runtime's, and of the driver's those that start work.
    Launch,    ///< Only those that start work on a GPU or wait for it.
    None,
};

/// How work inside a CUDA graph is recorded.
enum class GraphDetail {
    Nodes,  ///< Each kernel and copy; makes launching a graph dearer.
    Whole,  ///< One record for each launch of a graph.
};

/// What the launcher asked of the agent, through `LANESCOPE_AGENT_DIR` (where logs go; without it
/// the agent does nothing) and `LANESCOPE_AGENT_OPTIONS` (see capture/agent/README.md).
struct AgentOptions {
    std::string directory;
    bool recordCuda = true;
    bool recordNvtx = true;
    /// Leave CUPTI to another tool in the process, such as PyTorch's profiler.
    bool yieldCupti = false;
    ApiCalls apiCalls = ApiCalls::Filtered;
    GraphDetail graphs = GraphDetail::Nodes;
    bool recordMemsets = true;
    bool recordMemory = false;         ///< Allocations of device memory, and memory pools.
    bool recordUnifiedMemory = false;  ///< Migrations and page faults of managed memory.
    /// Patterns for names of programs; a program that none of them suits is left alone.
    std::vector<std::string> only;
    uint64_t maximumLogBytes = 0;          ///< Of this process; 0 for no limit.
    uint64_t maximumPartBytes = 1u << 30;  ///< Of one file of the log.
    /// A pattern of NVTX ranges whose beginnings and ends are told to samplers; empty: none.
    std::string sampleAt;
    WindowOptions windows;
    /// Where libcupti is, if not where the agent would look (`LANESCOPE_CUPTI`).
    std::string cuptiPath;

    bool isActive() const { return !directory.empty(); }
};

/// Reads "name=value,name=value" into `options`. In values, %xx is the byte with that hexadecimal
/// number: "%2C" a comma, "%25" the percent sign. What is unknown or malformed is ignored: an older
/// agent may meet a newer launcher.
void readOptionText(std::string_view text, AgentOptions& options);

/// Reads the environment of the process.
AgentOptions readAgentOptions();

/// Whether one of `patterns` suits the program of that executable and `argv[0]`: either as it is
/// given or without its folders. No patterns suit every program.
bool suitsProgram(const std::vector<std::string>& patterns, std::string_view executable,
                  std::string_view calledAs);

}  // namespace lanescope::agent
