// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

/// What NCCL Inspector writes, NVIDIA's profiler plugin for NCCL, and AMD's copy of it for RCCL.
extern const TraceFormat inspectorFormat;

}  // namespace lanescope
