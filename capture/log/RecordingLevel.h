// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope::log {

/// Amount that a process records. `lanescope watch` sets it for the processes of a run by the file `levelFileName`.
enum class RecordingLevel : uint32_t {
    Asleep = 0,   ///< Nothing. CUPTI is not loaded, or everything in it is disabled.
    Steps = 1,    ///< NVTX calls and events of the NCCL plugin.
    Kernels = 2,  ///< GPU work, too, without CUDA calls.
    All = 3,
};

/// Returns "asleep", "steps", "kernels" or "all".
constexpr std::string_view nameOf(RecordingLevel level) {
    constexpr std::string_view names[] = {"asleep", "steps", "kernels", "all"};
    return static_cast<uint32_t>(level) < 4 ? names[static_cast<uint32_t>(level)] : "unknown";
}

/// Content of the file `levelFileName`.
struct RunLevel {
    RecordingLevel level = RecordingLevel::All;
    /// Report the GPU work that has not ended, once. Its records then stay without times.
    bool wantsUnfinished = false;
};

/// File in the run folder with the level as one digit, and 'u' after it for `wantsUnfinished`. Without it, processes
/// keep the level with which they began.
inline constexpr const char* levelFileName = "level";

}  // namespace lanescope::log
