// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/doctor/CudaDriver.h"
#include "capture/machine/MeasuredPeaks.h"

namespace lanescope::capture {

struct MeasureOptions {
    /// Measures a GPU although others use it.
    bool isForced = false;
    double secondsPerGpu = 3;
    /// How busy a GPU is, in percent; nothing if that is not known. By UUID.
    std::function<std::optional<unsigned>(const std::string& uuid)> utilization;
    /// Called before each kind of copy, "GPU 0: HtoD pinned"; false ends the measuring.
    std::function<bool(const std::string& what)> progress;
};

/// A GPU as CUDA numbers it, and what was not measured of it.
struct MeasuredGpu {
    int ordinal = 0;
    std::string name;
    std::string uuid;  ///< "GPU-...", as NVML has it.
    /// Bytes a second that its memory moves by clock and width; 0 if the driver does not say.
    int64_t nominalMemoryBytesPerSecond = 0;
    std::string refusal;  ///< Why it was not measured; empty if it was.
};

struct Measurement {
    std::vector<MeasuredGpu> gpus;
    std::vector<MeasuredPeak> peaks;
};

/// Copies between pinned and pageable host memory and each GPU, within it, and from it to each
/// other, with sizes from 16 MiB to 1 GiB or a quarter of the free memory, and keeps the best rate
/// by CUDA's events. A GPU that works for others is left out unless forced. Fails if there is no
/// GPU. Takes `secondsPerGpu` a GPU and a moment more.
Result<Measurement> measureCopies(const CudaDriver& driver, const MeasureOptions& options);

}  // namespace lanescope::capture
