// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/json/JsonEvents.h"

namespace lanescope {

/// What PyTorch says of a collective operation, as NCCL would: `rank` is that of the process among
/// all, -1 if it is not known. The operation is empty for what moves no data ("wait", "barrier").
NcclRow ncclRowOf(const JsonCollective& said, int rank, TraceBuilder& builder);

}  // namespace lanescope
