// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "model/roofline/operatorWork.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Highest rate of a GPU.
struct RoofRate {
    double perSecond = 0;     ///< Operations or bytes; 0 if unknown.
    bool isMeasured = false;  ///< By `lanescope doctor --measure`; else of the data sheet.
};

/// Returns the highest rate of matrix products in a precision, for example "bf16": the best measured one, else that of
/// the data sheet. O(roofs).
RoofRate computeRoof(const Trace& trace, uint32_t gpu, std::string_view precision);
/// Returns the highest rate of the GPU's memory: the best measured one, else that reported by the driver, else of
/// the data sheet. O(roofs).
RoofRate memoryRoof(const Trace& trace, uint32_t gpu);

/// Shortest time of some work on a GPU.
struct RoofTime {
    double ns = 0;               ///< 0 if a needed roof is unknown.
    bool isMemoryBound = false;  ///< The memory roof binds.
    bool isMeasured = false;     ///< The roof that binds was measured.
};

/// Returns the shortest time of operations and bytes. The operations of elementwise work need no tensor cores, so only
/// its bytes count. O(1).
RoofTime roofTime(const OperatorWork& work, double flops, RoofRate compute, RoofRate memory);

}  // namespace lanescope
