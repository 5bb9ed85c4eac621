// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
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

/// A rate of computation or of GPU memory measured on this machine, and the state of the GPU meanwhile.
struct MeasuredRoof {
    std::string kind;  ///< "gemm", "dram": as `LANESCOPE_ROOFS`.
    std::string gpuUuid;
    std::string operation;        ///< "bf16", "fp8" ... of a product; "read", "write", "copy" of memory.
    int64_t m = 0, n = 0, k = 0;  ///< Size of the product.
    int64_t perSecond = 0;        ///< Floating-point operations, or bytes.
    int64_t smClockMhz = 0;       ///< 0 if unknown, also below.
    int64_t powerMilliwatts = 0;  ///< Mean of the last second, as the driver reports it.
    int64_t temperature = 0;      ///< Degrees Celsius.
    std::string software{};       ///< "cuBLASLt 13.1.0"; empty for memory.
    bool operator==(const MeasuredRoof&) const = default;
};

/// Results of `lanescope doctor --measure`, by GPU.
struct MeasuredPeaks {
    int64_t measuredAtUtcNs = 0;
    std::vector<MeasuredPeak> peaks = {};
    std::vector<MeasuredRoof> roofs = {};

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
