// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

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

/// Returns the bytes per second of the GPU's memory by the data sheet; 0 if unknown. O(1).
double datasheetBytesPerSecond(std::string_view gpuName, int computeMajor);

}  // namespace lanescope
