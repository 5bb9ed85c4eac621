// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::log {

/// Amount that a process records. `lanescope watch` sets it for the processes of a run by the file `levelFileName`.
enum class RecordingLevel : uint32_t {
    Asleep = 0,   ///< Nothing. CUPTI is not loaded, or everything in it is disabled.
    Steps = 1,    ///< NVTX calls and events of the NCCL plugin.
    Kernels = 2,  ///< GPU work, too, without CUDA calls.
    All = 3,
};

/// File in the run folder with the level as one digit. Without it, processes keep the level with which they began.
inline constexpr const char* levelFileName = "level";

}  // namespace lanescope::log
