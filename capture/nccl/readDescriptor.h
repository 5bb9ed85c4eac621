// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "capture/nccl/NcclRecorder.h"
#include "capture/nccl/profilerAbi.h"

namespace lanescope::agent::nccl {

// What we keep of an event that NCCL describes; nothing for a kind that we do not keep. The
// communicator and, from version 4 on, the rank are left to the caller, who knows the context.
// Texts stay NCCL's. Parents of version 5 are handles as `startEvent` answered them, so not filled
// in here.

std::optional<NcclStart> readDescriptor(const DescriptorV1& said);
std::optional<NcclStart> readDescriptor(const DescriptorV2& said);
std::optional<NcclStart> readDescriptor(const DescriptorV3& said);
std::optional<NcclStart> readDescriptor(const DescriptorV4& said);
std::optional<NcclStart> readDescriptor(const DescriptorV5& said);

}  // namespace lanescope::agent::nccl
