#pragma once

#include <string>
#include <string_view>

#include "capture/cupti/CuptiLibrary.h"

namespace lanescope {

/// Chooses which CUDA calls CUPTI records: all of the runtime except those that only ask for
/// something, and of the driver those that start GPU work, since libraries such as cuBLASLt, NCCL
/// and Triton launch through it. `recordAll` keeps the asking ones. Answers how many runtime calls
/// were switched off.
int enableApiRecords(const CuptiLibrary& cupti, bool recordAll, std::string& problems);

/// What a program calls the function that CUPTI calls "cudaGetDevice_v3020": "cudaGetDevice". For
/// calls of the runtime only; in a driver call's name "_v2" is part of it.
std::string_view runtimeCallName(std::string_view callbackName);

}  // namespace lanescope
