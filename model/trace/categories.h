// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/format/Memory.h"
#include "model/trace/Track.h"

namespace lanescope {

/// What an API call does, judged by its name: launches, moves or allocates memory, waits, other.
SliceCategory apiCategory(std::string_view apiName);
/// Whether an API call, judged by its name, allocates or frees memory.
bool isAllocation(std::string_view apiName);
/// `NcclKernel` for the kernels of NCCL, by their prefix, `Kernel` for all others.
SliceCategory kernelCategory(std::string_view kernelName);
SliceCategory memcpyCategory(MemcpyKind kind);

}  // namespace lanescope
