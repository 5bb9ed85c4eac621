// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/optionValues.h"

namespace lanescope::agent {

/// Trigger that opens and closes the recording windows.
enum class WindowTrigger {
    None,               ///< Everything is kept.
    Time,               ///< `delayNs` after the base time, for `durationNs`.
    CudaProfilerCalls,  ///< From cudaProfilerStart to cudaProfilerStop.
    NvtxRange,          ///< While a range of `rangeName` is open.
    Steps,              ///< From the beginning of the first of `steps` to the end of the last.
};

/// Recording windows of the processes of a run.
struct WindowOptions {
    WindowTrigger trigger = WindowTrigger::None;
    /// Base of all times, so that all processes of a run agree; 0 is the start of the agent.
    int64_t baseNs = 0;
    int64_t delayNs = 0;     ///< With another trigger: earliest time of the first window.
    int64_t durationNs = 0;  ///< 0 is unlimited. With another trigger: maximum length of a window.
    std::string rangeName;   ///< Pattern; empty in `Steps` for the usual names of steps.
    std::string rangeDomain;
    bool anyDomain = true;
    StepRange steps;
    int64_t repeat = 1;  ///< Number of windows; 0 for no limit.

    bool isEverything() const { return trigger == WindowTrigger::None; }
    /// Returns true if only the process itself determines its windows and reports them in its log.
    bool areInsideProgram() const { return !isEverything() && trigger != WindowTrigger::Time; }
    bool hasTimes() const { return delayNs > 0 || durationNs > 0; }
    /// Returns the maximum number of windows per process, or nullopt if unlimited.
    std::optional<int64_t> count() const;
    bool operator==(const WindowOptions&) const = default;
};

/// Time that the agent adds to calls, as a test of forecasts (`lanescope whatif --verify`).
struct CallDelay {
    int64_t ns = 0;                  ///< For each call, at most `maxNs`; 0: none.
    int64_t periodNs = 0;            ///< Only in every second interval of this length of `log::eventTimeNs`; 0: always.
    std::string line;                ///< Only calls of this Python line, "train.py:212"; empty: all.
    std::string rank;                ///< Only calls of the process with this rank; empty: all.
    std::vector<std::string> calls;  ///< Names of functions of the CUDA driver.
    static constexpr int64_t maxNs = 100'000'000;
    bool operator==(const CallDelay&) const = default;
};

/// Sets the range of `windows` from "NAME" or "NAME@DOMAIN", split at the last '@'.
void setRange(std::string_view text, WindowOptions& windows);

/// Sets the trigger of `windows` from "cudaProfilerApi" or "nvtx:NAME[@DOMAIN]". Returns false and
/// changes nothing for other texts and for a range without a name.
bool setTriggerRange(std::string_view text, WindowOptions& windows);

/// Returns true if a range of this name is a training step. Accepts "step", "iteration" or "iter" as a word, alone or
/// after "train" or "training", and PyTorch's "ProfilerStep#12". Ignores case and following numbers and signs.
bool isStepName(std::string_view name);

/// Environment variables that pass settings from the launcher to the agent.
inline constexpr const char* folderVariable = "LANESCOPE_AGENT_DIR";
/// Session of the recording, which marks its folder; see `log::LogFolder`.
inline constexpr const char* sessionVariable = "LANESCOPE_AGENT_SESSION";
inline constexpr const char* optionsVariable = "LANESCOPE_AGENT_OPTIONS";
inline constexpr const char* cuptiVariable = "LANESCOPE_CUPTI";
/// Time of events of the launcher, as `log::eventClockText`.
inline constexpr const char* clockVariable = "LANESCOPE_AGENT_CLOCK";
/// Name of the socket at which the launcher opens logs for other processes, for `log::requestLog`.
inline constexpr const char* doorVariable = "LANESCOPE_AGENT_DOOR";
/// Set to 1 for `watch`: programs begin asleep, as with `AgentOptions::beginsAsleep`.
inline constexpr const char* sleepVariable = "LANESCOPE_SLEEP";
/// Disables the agent if set to anything but 0 or an empty text. Overrides the other variables.
inline constexpr const char* disableVariable = "LANESCOPE_DISABLE";

/// Default disk reserve: a twentieth of the disk's size, at most 1 GiB, or the space that the trace needs if that is
/// more; see `DiskLimit`.
inline constexpr uint64_t defaultReserve = UINT64_MAX;

inline constexpr uint64_t defaultRingBytes = uint64_t{256} << 20;

/// Selection of recorded CUDA calls.
enum class ApiCalls {
    Filtered,  ///< Driver calls, without those that only query or set a property.
    All,       ///< All runtime calls, and the driver calls that start work.
    Launch,    ///< Only calls that start work on a GPU or wait for it.
    None,
};

/// Recording of work inside a CUDA graph.
enum class GraphDetail {
    Nodes,  ///< Each kernel and copy; makes launching a graph more expensive.
    Whole,  ///< One record per launch of a graph.
};

/// Settings from the launcher to the agent. `lanescope record` writes them, as text, into the
/// environment of the program, where the agent reads them.
struct AgentOptions {
    bool recordCuda = true;
    bool recordNvtx = true;
    ApiCalls apiCalls = ApiCalls::Filtered;
    GraphDetail graphs = GraphDetail::Nodes;
    bool recordPython = true;          ///< Record the Python stack of each CUDA call.
    bool recordMemsets = true;         ///< CUPTI makes each memset take the GPU 2 us longer.
    bool recordMemory = false;         ///< Record allocations of device memory, and memory pools.
    bool recordUnifiedMemory = false;  ///< Record events of managed memory.
    /// Leave CUPTI to another tool in the process, such as PyTorch's profiler.
    bool yieldCupti = false;
    /// Patterns of program names; other programs are not recorded.
    std::vector<std::string> only;
    uint64_t maxLogBytes = 0;          ///< Maximum log size of this process, whole MiB; 0 for no limit.
    uint64_t maxPartBytes = 1u << 30;  ///< Maximum size of one file of the log, whole MiB.
    /// The log keeps the last events of this duration, whole seconds, in files of at most `ringBytes`; 0: all events.
    int64_t ringNs = 0;
    uint64_t ringBytes = defaultRingBytes;  ///< Whole MiB.
    bool followsLevel = false;              ///< Follow the level of the run; see `log::RecordingLevel`.
    bool beginsAsleep = false;              ///< Begin at `RecordingLevel::Asleep`, and follow the level of the run.
    /// Free disk space that recording preserves, whole MiB; 0 for none.
    uint64_t diskReserveBytes = defaultReserve;
    bool keepsCommandLine = false;  ///< Record the command line without masking secrets.
    /// Pattern of NVTX ranges whose beginnings and ends trigger samples; empty: none.
    std::string sampleAt;
    WindowOptions windows;
    CallDelay delay;

    bool operator==(const AgentOptions&) const = default;
};

/// Returns true if the environment disables the agent. Any thread.
bool isDisabled();

/// Returns the options as "name=value,name=value". In values, %xx is the byte with that hexadecimal
/// number and encodes reserved characters. Omits defaults, except for `cuda` and `nvtx`.
std::string optionText(const AgentOptions& options);

/// Reads such a text into `options`. Ignores unknown and malformed parts: an older agent may meet a newer launcher.
void readOptionText(std::string_view text, AgentOptions& options);

std::vector<std::string_view> optionNames();

/// Return the way to record calls ("filtered") and graphs ("node") with a name.
std::optional<ApiCalls> apiCallsNamed(std::string_view name);
std::optional<GraphDetail> graphDetailNamed(std::string_view name);

/// Returns true if one of `patterns` matches the executable or its `argv[0]`, as given or without
/// folders. No patterns match every program.
bool matchesProgram(const std::vector<std::string>& patterns, std::string_view executable, std::string_view calledAs);

}  // namespace lanescope::agent
