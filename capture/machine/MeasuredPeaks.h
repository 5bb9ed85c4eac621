// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::capture {

/// A copy rate measured on this machine.
struct MeasuredPeak {
    std::string kind;  ///< "host-copy", "dram", "nvlink", "pcie": as `LANESCOPE_LINK_PEAKS`.
    std::string gpuUuid;
    std::string peerUuid;   ///< Empty unless the copy went to another GPU.
    std::string direction;  ///< "rx" into the GPU, "tx" out of it; empty for both.
    std::string memory;     ///< "pinned", "pageable"; empty unless host memory.
    int64_t bytesPerSecond = 0;
    bool operator==(const MeasuredPeak&) const = default;
};

/// Results of `lanescope doctor --measure`, by GPU.
struct MeasuredPeaks {
    int64_t measuredAtUtcNs = 0;
    std::vector<MeasuredPeak> peaks;

    /// Returns the default file: `$XDG_STATE_HOME/lanescope/peaks.json`, in `~/.local/state`
    /// without that variable. Fails if there is neither.
    static Result<std::filesystem::path> defaultFile();
    /// Loads the file. Fails with a sentence if it is missing or not of this kind.
    static Result<MeasuredPeaks> load(const std::filesystem::path& file);
    Result<void> save(const std::filesystem::path& file) const;
    /// Adds `newer` and keeps the values of GPUs that it does not contain.
    void merge(const MeasuredPeaks& newer);
};

}  // namespace lanescope::capture
