// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/analysis/ComputeUse.h"
#include "model/format/TimeRange.h"
#include "model/roofline/ShapedCalls.h"
#include "model/roofline/roofs.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Returns the work of one group, without calls. O(roofs + frames).
ShapedWork describe(const Trace& trace, const ShapedGroup& group);

/// Steps of a worker for `computeUse`.
struct UseQuery {
    uint32_t process = 0, gpu = 0;
    std::span<const TimeRange> steps;  ///< On the GPU; in order, without overlaps.
    /// Returns the step of work by its start on the GPU and of its launch; `noIndex` if none.
    std::function<uint32_t(int64_t startNs, int64_t launchedNs)> stepOf = {};
    std::string_view precision = {};  ///< Precision by names of kernels, for runs without shapes; may be empty.
    bool isShared = false;
};

struct UseInSteps {
    ComputeUse use;
    std::vector<std::optional<int64_t>> activePerSecond;  ///< By step, where readings suffice (`minReadShare`).
    std::vector<ShapedWork> shaped;                       ///< By time beyond the roof, at most `maxShapedWorks`.
};
/// A step has a rate of its own if readings that lie within it cover this share of it.
inline constexpr double minReadShare = 0.75;

/// Computes the use of tensor cores in steps. Readings count if they lie within steps. If these cover less than half of
/// the steps, all readings from the first step to the last count. O(readings + calls).
UseInSteps computeUse(const Trace& trace, const ShapedCalls& calls, const UseQuery& query);

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
