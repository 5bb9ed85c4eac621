// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Use of the tensor cores of a GPU, as its counters show it: the product of tensor activity and SM clock. It includes
/// the work of all processes on the GPU.
struct TensorUse {
    double activity = 0;           ///< Share of the time in which tensor cores worked, weighted by the clock; 0 to 1.
    double clockHz = 0;            ///< Mean SM clock.
    double ofDataSheet = 0;        ///< MFU against the data sheet's throughput; 0 if the GPU is not in the list.
    double ofMeasured = 0;         ///< MFU against the best measured bf16 (else fp16) product; 0 without one.
    int64_t knownNs = 0;           ///< Time in which both counters are known.
    int64_t wholeNs = 0;           ///< Length of the range.
    int64_t longestReadingNs = 0;  ///< Longest interval of a reading that counted.
};

/// Returns the tensor use of GPU number `gpu` (index into `Trace::gpus`) within `range`; nullopt if the counters were
/// not recorded or cover none of it, or if a reading is longer than the range. An unread time never counts as idle.
/// O(readings).
std::optional<TensorUse> tensorUseOf(const Trace& trace, uint32_t gpu, TimeRange range);

}  // namespace lanescope
