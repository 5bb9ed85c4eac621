// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Gives the builder the operations in a log of NCCL Inspector, NVIDIA's or AMD's, of which nobody
/// vouches for a byte; its health says what could not be read. No more than `mostBytes` are read.
/// `fractionRead` says how much of the file that is. Fails if no byte can be read, and if it is
/// cancelled. O(n log n).
Result<void> readInspectorTrace(const ByteSource& source, TraceBuilder& builder,
                                const std::function<double()>& fractionRead,
                                const LoadProgress& progress, uint64_t mostBytes);

}  // namespace lanescope
