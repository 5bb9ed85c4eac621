#pragma once

#include <string>
#include <string_view>

#include "capture/agent/AgentOptions.h"
#include "capture/cupti/CuptiLibrary.h"

namespace lanescope {

/// Chooses which CUDA calls CUPTI records. Of the driver's calls, which libraries such as cuBLASLt,
/// NCCL and Triton make, only those that start GPU work are ever recorded. A CUPTI that cannot leave
/// out single calls (before 12.5) records all of the runtime's, and `wantsCall` says which to keep.
/// Answers how many runtime calls were switched off.
int enableApiRecords(const CuptiLibrary& cupti, ApiCalls which, std::string& problems);

/// Whether a call of the runtime, by CUPTI's name for it, is among `which`.
bool wantsRuntimeCall(ApiCalls which, std::string_view callbackName);

/// What a program calls the function that CUPTI calls "cudaGetDevice_v3020": "cudaGetDevice". For
/// calls of the runtime only; in a driver call's name "_v2" is part of it.
std::string_view runtimeCallName(std::string_view callbackName);

}  // namespace lanescope
