// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "model/analysis/ComputeUse.h"
#include "model/roofline/roofs.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Operators of one shape, precision, GPU and Python line.
struct RooflineRow {
    ShapedWork work;
    uint32_t gpu = 0;  ///< Index into `Trace::gpus`.
    EventRef longest;  ///< Its longest kernel.
    /// Time beyond the roof in a mean step with shapes; nullopt without a roof or steps.
    std::optional<int64_t> aboveRoofPerStepNs;

    double flopsPerSecond() const;
    double bytesPerSecond() const;
    /// Returns operations per byte.
    double intensity() const;
};

/// Roofs of a GPU for a chart.
struct GpuRoofs {
    uint32_t gpu = 0;
    struct Compute {
        std::string precision;
        RoofRate rate;
    };
    std::vector<Compute> compute;  ///< Precisions of the rows, highest rate first.
    RoofRate memory;
};

struct Roofline {
    std::vector<RooflineRow> rows;  ///< By time beyond the roof, per step if known; rows without a roof last, by time.
    std::vector<GpuRoofs> roofs;    ///< GPUs with rows.
    int64_t kernelNs = 0;           ///< Time of all kernels in the range, without collectives.
    int64_t knownKernelNs = 0;      ///< Part of it of operators with known shapes.
};

/// Compares operators with kernels that start in `range` with their GPUs' roofs. Empty without shapes. O(n log n).
Roofline rooflineOf(const Trace& trace, std::optional<TimeRange> range = {});

}  // namespace lanescope::analysis
