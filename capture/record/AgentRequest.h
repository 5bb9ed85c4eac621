#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::capture {

/// When the processes of a run keep what they see: always, for a span of time, inside ranges, or
/// for some steps. Not both of the last two.
struct CaptureWindows {
    int64_t delayMs = 0;     ///< After the program's start; nothing is kept before.
    int64_t durationMs = 0;  ///< 0: to the end. With ranges or steps, how long they may last.
    std::string range;       ///< "cudaProfilerApi" or "nvtx:RANGE[@DOMAIN]"; empty: none.
    struct Steps {
        int64_t first = 0, last = 0;  ///< Counted from 0, both recorded.
        std::string range;  ///< "NAME[@DOMAIN]", the NVTX range that each step has; empty: the
                            ///< agent tells by the names that steps commonly have.
    };
    std::optional<Steps> steps;
    uint32_t repeat = 1;  ///< So many ranges and no more; 0: as many as come.

    /// True if the agent says in the logs when its windows begin and end.
    bool areInsideProgram() const { return !range.empty() || steps.has_value(); }
    /// True if everything is recorded from the first moment to the last.
    bool isEverything() const { return !areInsideProgram() && delayMs == 0 && durationMs == 0; }
    /// How many windows a process has before it records no more; nothing if that is open.
    std::optional<uint32_t> count() const;
};

/// What the agent is asked to record.
struct AgentRequest {
    bool cuda = true;
    bool nvtx = true;
    std::string api = "filtered";   ///< CUDA API calls: filtered, launch, all or none.
    bool wholeGraphs = false;       ///< One slice a launch of a CUDA graph, not one a node.
    bool memsets = true;            ///< Memsets; CUPTI makes each take the GPU 2 us longer.
    bool memory = false;            ///< Device allocations and memory pools.
    bool unifiedMemory = false;     ///< Migrations and page faults of managed memory.
    bool ncclPlugin = false;        ///< NCCL's own profiler interface beside its NVTX ranges.
    bool yieldsCupti = false;       ///< Leaves CUPTI to a tool inside the program.
    std::vector<std::string> only;  ///< Patterns of programs to record; empty: all of the run.
    uint64_t maximumLogMb = 0;      ///< Of one process; 0: the agent's own limit.
    /// A pattern of NVTX ranges, at whose beginnings and ends samplers are told; empty: none.
    std::string sampleAt;
    CaptureWindows windows;
};

/// The options of the agent as they stand in its environment, "cuda=1,nvtx=1,api=all", with
/// percent signs for what would not be plain text there. `baseRealtimeNs` is the moment from which
/// delays count; 0 leaves it out.
std::string agentOptions(const AgentRequest& request, int64_t baseRealtimeNs);

}  // namespace lanescope::capture
