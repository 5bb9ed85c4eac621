// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// What the calls of a trace are of, as it is called where people read of them: "CUDA", or "HIP"
/// where AMD's GPUs were at work. By the first call that tells, else by the GPUs. O(GPUs).
std::string_view callWord(const Trace& trace);

/// What the processors of a GPU are called: "SMs", or "CUs" of AMD's. O(1).
std::string_view coresWord(const Gpu& gpu);

}  // namespace lanescope
