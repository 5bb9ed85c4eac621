#pragma once

#include <cstdint>
#include <string>

namespace lanescope::agent {

/// What opens and closes the windows in which records are kept.
enum class WindowTrigger {
    None,               ///< Everything is kept.
    Time,               ///< `delayNs` after the base time, for `durationNs`.
    CudaProfilerCalls,  ///< From cudaProfilerStart to cudaProfilerStop.
    NvtxRange,          ///< While a range of `rangeName` is open.
    Steps,              ///< From the beginning of step `firstStep` to the end of `lastStep`.
};

struct WindowOptions {
    WindowTrigger trigger = WindowTrigger::None;
    /// CLOCK_REALTIME from which times count, so that all processes of a run agree; 0 is the start
    /// of the agent.
    int64_t baseNs = 0;
    int64_t delayNs = 0;     ///< With another trigger: nothing opens a window before.
    int64_t durationNs = 0;  ///< 0 is without end. With another trigger: a window's longest.
    std::string rangeName;   ///< Pattern; empty in `Steps` for the names that steps have.
    std::string rangeDomain;
    bool anyDomain = true;
    int64_t firstStep = 0, lastStep = 0;  ///< Counted from 1.
    int64_t repeat = 1;                   ///< How many windows; 0 for as many as come.
};

}  // namespace lanescope::agent
