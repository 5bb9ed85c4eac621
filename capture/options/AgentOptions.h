// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/optionValues.h"

namespace lanescope::agent {

/// What opens and closes the windows in which records are kept.
enum class WindowTrigger {
    None,               ///< Everything is kept.
    Time,               ///< `delayNs` after the base time, for `durationNs`.
    CudaProfilerCalls,  ///< From cudaProfilerStart to cudaProfilerStop.
    NvtxRange,          ///< While a range of `rangeName` is open.
    Steps,              ///< From the beginning of the first of `steps` to the end of the last.
};

/// When the processes of a run keep what they see.
struct WindowOptions {
    WindowTrigger trigger = WindowTrigger::None;
    /// The moment from which times count, so that all processes of a run agree; 0 is the start
    /// of the agent.
    int64_t baseNs = 0;
    int64_t delayNs = 0;     ///< With another trigger: nothing opens a window before.
    int64_t durationNs = 0;  ///< 0 is without end. With another trigger: a window's longest.
    std::string rangeName;   ///< Pattern; empty in `Steps` for the names that steps have.
    std::string rangeDomain;
    bool anyDomain = true;
    StepRange steps;
    int64_t repeat = 1;  ///< How many windows; 0 for as many as come.

    /// True if everything is recorded from the first moment to the last.
    bool isEverything() const { return trigger == WindowTrigger::None; }
    /// True if only the process itself knows when its windows begin and end; its log says so.
    bool areInsideProgram() const { return !isEverything() && trigger != WindowTrigger::Time; }
    /// True if a delay or a duration counts from `baseNs`.
    bool hasTimes() const { return delayNs > 0 || durationNs > 0; }
    /// How many windows a process has before it records no more; nothing if that is open.
    std::optional<int64_t> count() const;
    bool operator==(const WindowOptions&) const = default;
};

/// Takes "NAME" or "NAME@DOMAIN", of which the last '@' counts, as the range of `windows`.
void setRange(std::string_view text, WindowOptions& windows);

/// Takes "cudaProfilerApi" or "nvtx:NAME[@DOMAIN]" as what opens `windows`. False, and nothing
/// taken, for anything else and for a range without a name.
bool setTriggerRange(std::string_view text, WindowOptions& windows);

/// The environment variables through which the launcher speaks to the agent.
inline constexpr const char* folderVariable = "LANESCOPE_AGENT_DIR";
inline constexpr const char* optionsVariable = "LANESCOPE_AGENT_OPTIONS";
inline constexpr const char* cuptiVariable = "LANESCOPE_CUPTI";
/// The time of events of the launcher, as `log::eventClockText`.
inline constexpr const char* clockVariable = "LANESCOPE_AGENT_CLOCK";
/// The socket where the launcher opens logs for those who cannot, as `log::askDoor` takes it.
inline constexpr const char* doorVariable = "LANESCOPE_AGENT_DOOR";
/// Set to anything but 0 or nothing by whoever wants no agent, whatever the others say.
inline constexpr const char* disableVariable = "LANESCOPE_DISABLE";

/// A reserve of the disk that goes by its size: a twentieth, 1 GiB at most.
inline constexpr uint64_t usualReserve = UINT64_MAX;

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

/// What the launcher asks of the agent: `lanescope record` fills it in and writes it, as text, into
/// the environment of the program, where the agent reads it.
struct AgentOptions {
    bool recordCuda = true;
    bool recordNvtx = true;
    ApiCalls apiCalls = ApiCalls::Filtered;
    GraphDetail graphs = GraphDetail::Nodes;
    bool recordPython = true;          ///< The Python stack of each CUDA call.
    bool recordMemsets = true;         ///< CUPTI makes each take the GPU 2 us longer.
    bool recordMemory = false;         ///< Allocations of device memory, and memory pools.
    bool recordUnifiedMemory = false;  ///< What befalls managed memory.
    /// Leave CUPTI to another tool in the process, such as PyTorch's profiler.
    bool yieldCupti = false;
    /// Patterns for names of programs; a program that none of them suits is left alone.
    std::vector<std::string> only;
    uint64_t maximumLogBytes = 0;          ///< Of this process, whole MiB; 0 for no limit.
    uint64_t maximumPartBytes = 1u << 30;  ///< Of one file of the log, whole MiB.
    /// What recording leaves free on the disk, whole MiB; 0 for nothing.
    uint64_t diskReserveBytes = usualReserve;
    bool keepsCommandLine = false;  ///< As it is, with what looks like a secret.
    /// A pattern of NVTX ranges whose beginnings and ends are told to samplers; empty: none.
    std::string sampleAt;
    WindowOptions windows;

    bool operator==(const AgentOptions&) const = default;
};

/// Whether the environment says that there is to be no agent. Any thread.
bool isDisabled();

/// The options as "name=value,name=value". In values %xx is the byte of that hexadecimal number,
/// for all that the text needs for itself. Those at their default are left out, but for `cuda` and
/// `nvtx`.
std::string optionText(const AgentOptions& options);

/// Reads such a text into `options`. What is unknown or malformed is ignored: an older agent may
/// meet a newer launcher.
void readOptionText(std::string_view text, AgentOptions& options);

/// The names of all options, in the order in which they are written.
std::vector<std::string_view> optionNames();

/// The names of the ways to record calls, "filtered", and of graphs, "node".
std::string_view nameOf(ApiCalls calls);
std::string_view nameOf(GraphDetail graphs);
std::optional<ApiCalls> apiCallsNamed(std::string_view name);
std::optional<GraphDetail> graphDetailNamed(std::string_view name);

/// Whether one of `patterns` suits the program of that executable and `argv[0]`: either as it is
/// given or without its folders. No patterns suit every program.
bool suitsProgram(const std::vector<std::string>& patterns, std::string_view executable,
                  std::string_view calledAs);

}  // namespace lanescope::agent
