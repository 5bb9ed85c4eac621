// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/roofline/OperatorCall.h"

namespace lanescope::analysis {

/// Source of an MFU.
enum class MfuSource : uint8_t {
    None,
    Counters,  ///< Tensor activity times SM clock: of everything on the GPU, with repeated operations and padding.
    Shapes,    ///< Operations counted from the shapes of operators.
};
/// For files and programs: "none", "counters", "shapes".
std::string_view identifier(MfuSource source);

/// Use of a GPU's tensor cores by a worker. Rates are operations per second of `precision`; 0 if unknown.
struct ComputeUse {
    std::string precision;          ///< Number format of peaks and most products: "bf16". Empty if nothing is known.
    int64_t sheetPerSecond = 0;     ///< Peak of the data sheet.
    int64_t measuredPerSecond = 0;  ///< Best product of `lanescope doctor --measure`.

    // By counters. All 0 without readings.
    std::string sampler;          ///< "gpm", "pm".
    int64_t activePerSecond = 0;  ///< Tensor activity times clock, times the operations of active tensor cores.
    int64_t readings = 0;
    int64_t readingNs = 0;  ///< Longest interval of a reading.
    int64_t knownNs = 0;    ///< Time with readings.
    int64_t readSteps = 0;  ///< Steps with readings; 0 if they cover the run instead, as readings do not fit its steps.
    bool isShared = false;  ///< Other processes used the GPU, and readings include theirs.

    // By shapes, of the steps with shapes. All 0 without.
    int64_t countedSteps = 0;
    int64_t countedNs = 0;        ///< Their duration, summed.
    int64_t modelPerStep = 0;     ///< Operations of a mean step, without repeated ones.
    int64_t repeatedPerStep = 0;  ///< Repeated ones: of checkpointed forwards, and within the backward of attention.
    int64_t kernelNs = 0;         ///< Time of kernels in these steps, summed, without collectives.
    int64_t knownKernelNs = 0;    ///< Part of it of operators with known shapes.

    /// Returns the measured peak, else that of the data sheet; 0 if both are unknown.
    int64_t peakPerSecond() const { return measuredPerSecond > 0 ? measuredPerSecond : sheetPerSecond; }
    /// Returns true if counted operations cover nearly all kernels.
    bool isCounted() const;
    /// Returns the rate of counted operations in these steps, without or with repeated ones; 0 if not counted.
    double countedPerSecond(bool withRepeated) const;
    /// Returns the source of `mfu`: shapes precede counters, unless less than half of the steps have shapes.
    MfuSource source() const;
    /// Returns the rate as a share of the peak; nullopt if the rate or the peak is unknown.
    std::optional<double> mfu() const;
    /// Returns the same with repeated operations. Nullopt without counted operations.
    std::optional<double> hfu() const;
    /// Returns the shares by each source alone.
    std::optional<double> byShapes() const;
    std::optional<double> byCounters() const;
    /// Returns the number of steps behind `mfu`; 0 for the run.
    int64_t steps() const { return source() == MfuSource::Shapes ? countedSteps : readSteps; }

    bool operator==(const ComputeUse&) const = default;
};
/// Share of kernels' time with known shapes from which operations count as known.
inline constexpr double minCountedShare = 0.9;

/// Work of equal shape, precision and Python line in the steps of a worker.
struct ShapedWork {
    OperatorKind kind = OperatorKind::Product;
    std::string operation, shape, precision;
    std::string place;   ///< "model.py:88 in forward"; empty if unknown.
    std::string kernel;  ///< Demangled name of the longest one.
    bool isRecomputed = false;
    int64_t count = 0;
    int64_t kernelNs = 0;          ///< Summed.
    int64_t flops = 0, bytes = 0;  ///< Per call.
    int64_t roofNs = 0;            ///< Shortest time of one call by the roofs; 0 if unknown.
    bool isMemoryBound = false;    ///< The memory roof binds.
    bool isMeasured = false;       ///< The roof that binds was measured.

    /// Returns the summed time beyond the roof; 0 without one.
    int64_t aboveRoofNs() const;
    /// Returns the share of the roof that is reached; nullopt without one.
    std::optional<double> ofRoof() const;
    bool operator==(const ShapedWork&) const = default;
};
inline constexpr size_t maxShapedWorks = 24;

}  // namespace lanescope::analysis
