// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The GPUs that a process works on, as indices into `Trace::gpus`, in their order: those on whose
/// streams it spends at least a hundredth of its GPU time. On others it has a context, or exchanges
/// a few bytes at start-up. O(streams), whatever they hold.
std::vector<uint32_t> gpusOfProcess(const Trace& trace, uint32_t process);

}  // namespace lanescope
