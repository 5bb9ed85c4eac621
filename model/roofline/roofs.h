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

/// Returns the highest rate of matrix products in a precision ("bf16"): measured, else of the data sheet. O(roofs).
RoofRate computeRoof(const Trace& trace, uint32_t gpu, std::string_view precision);
/// Returns the highest rate of the GPU's memory: the best measured, else the driver's, else the data sheet's. O(roofs).
RoofRate memoryRoof(const Trace& trace, uint32_t gpu);

/// Shortest time of some work on a GPU.
struct RoofTime {
    double ns = 0;               ///< 0 if a needed roof is unknown.
    bool isMemoryBound = false;  ///< The memory roof binds.
    bool isMeasured = false;     ///< The roof that binds was measured.
};

/// Returns the shortest time of operations and bytes; of elementwise work, without tensor cores, only bytes count.
RoofTime roofTime(const OperatorWork& work, double flops, RoofRate compute, RoofRate memory);

}  // namespace lanescope
