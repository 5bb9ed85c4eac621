// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/format/parseStepRange.h"

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

}  // namespace lanescope::agent
