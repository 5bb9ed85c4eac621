// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::capture {

/// One rate that copies reached on this machine.
struct MeasuredPeak {
    std::string kind;  ///< "host-copy", "dram", "nvlink", "pcie": as `LANESCOPE_LINK_PEAKS`.
    std::string gpuUuid;
    std::string peerUuid;   ///< Empty unless the copy went to another GPU.
    std::string direction;  ///< "rx" into the GPU, "tx" out of it; empty for both.
    std::string memory;     ///< "pinned", "pageable"; empty unless of the host.
    int64_t bytesPerSecond = 0;
    bool operator==(const MeasuredPeak&) const = default;
};

/// What `lanescope doctor --measure` found, by the GPUs it found it on.
struct MeasuredPeaks {
    int64_t measuredAtUtcNs = 0;
    std::vector<MeasuredPeak> peaks;

    /// Where they are kept: `$XDG_STATE_HOME/lanescope/peaks.json`, in `~/.local/state` without
    /// that variable. Fails if there is neither.
    static Result<std::filesystem::path> defaultFile();
    /// Fails with a sentence for a file that is missing or not one of these.
    static Result<MeasuredPeaks> load(const std::filesystem::path& file);
    /// Replaces the file, and makes its folder.
    Result<void> save(const std::filesystem::path& file) const;
    /// Takes `newer` and keeps what is known of GPUs that it does not tell of.
    void merge(const MeasuredPeaks& newer);
};

}  // namespace lanescope::capture
