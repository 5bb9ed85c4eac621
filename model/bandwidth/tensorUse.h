// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Returns the dense floating-point operations of one SM per clock, of a number format: "bf16", "fp16", "fp8", "tf32",
/// "fp32", "fp64". On tensor cores where the GPU has them for it; 0 if it has no units for it or is unknown.
///
/// Source: throughput of arithmetic instructions in NVIDIA's CUDA programming guide, and the white papers of the
/// architectures.
double flopsPerClockOfSm(int computeMajor, int computeMinor, std::string_view precision);

/// Returns the operations that one SM completes per clock in which its tensor cores are active, by GPM and hardware
/// counters. Less than `flopsPerClockOfSm` on Hopper: its data sheets state peaks at 0.924 of the highest SM clock
/// (H100 SXM 1,830 of 1,980 MHz, PCIe 1,620 of 1,755 MHz), and tensor cores that are always active compute that share
/// at any clock (`analysis/README.md`, MFU).
double flopsPerActiveClockOfSm(int computeMajor, int computeMinor, std::string_view precision);

/// Returns the clock in Hz at which the data sheet of the GPU states its tensor throughput; 0 if unknown. Below the
/// highest clock of the SMs: an H100 runs to 1,980 MHz, its 989 TFLOP/s are those of 132 SMs at 1,830 MHz.
double datasheetClockHz(std::string_view gpuName, int computeMajor, int computeMinor, int smCount);

/// Returns the operations per second of the data sheet; 0 if unknown. O(1).
double datasheetFlopsPerSecond(std::string_view gpuName, int computeMajor, int computeMinor, int smCount,
                               std::string_view precision);

/// Returns tensor activity times SM clock at the peak of the data sheet, in Hz; 0 if unknown. O(1).
double datasheetActiveHz(std::string_view gpuName, int computeMajor, int computeMinor, int smCount);

/// Returns the bytes per second of the GPU's memory by the data sheet; 0 if unknown. O(1).
double datasheetBytesPerSecond(std::string_view gpuName, int computeMajor);

/// Use of a GPU's tensor cores by all processes, as its counters show it: the product of tensor activity and SM clock.
struct TensorUse {
    double activity = 0;     ///< Share of the time in which tensor cores worked, weighted by the clock; 0 to 1.
    double clockHz = 0;      ///< Mean SM clock.
    double ofDataSheet = 0;  ///< MFU against the data sheet's throughput; 0 if the GPU is not in the list.
    double ofMeasured = 0;   ///< MFU against the best measured bf16 (else fp16) product; 0 without one.
    int64_t knownNs = 0;     ///< Time in which both counters are known.
    int64_t wholeNs = 0;     ///< Length of the range.
};

/// A reading of tensor activity, with the SM clock meanwhile.
struct TensorReading {
    TimeRange range;      ///< Interval of its mean, clipped.
    int64_t knownNs = 0;  ///< Part of it with a known clock.
    int64_t wholeNs = 0;  ///< Interval without clipping.
    double activity = 0;  ///< 0 to 1.
    double clockHz = 0;
};
struct TensorReadings {
    std::string sampler;  ///< "gpm", "pm".
    std::vector<TensorReading> readings;
};

/// Returns the readings of a GPU that overlap `range`, clipped to it, by time. Empty without both counters. A clock
/// that was read less often than the activity holds until its next reading. O(readings).
TensorReadings tensorReadings(const Trace& trace, uint32_t gpu, TimeRange range);

/// Adds a counter of each GPU with readings: MFU by the best measured bf16 (else fp16) product, else the data sheet.
void addMfuCounters(Trace& trace);

/// Returns the tensor use of a GPU (index into `Trace::gpus`) within `range`; nullopt if the counters were not recorded
/// or cover none of it, or if a reading is longer than the range. An unread time never counts as idle. O(readings).
std::optional<TensorUse> tensorUseOf(const Trace& trace, uint32_t gpu, TimeRange range);

}  // namespace lanescope
