// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Emits the operations of an untrusted NCCL Inspector log of NVIDIA or AMD. Adds health notes on
/// unreadable parts. Reads at most `maxBytes`. `fractionRead` returns the fraction of the file
/// that was read. Fails if no byte can be read or if cancelled. O(n log n).
Result<void> readInspectorTrace(const ByteSource& source, TraceBuilder& builder,
                                const std::function<double()>& fractionRead, const LoadProgress& progress,
                                uint64_t maxBytes);

}  // namespace lanescope
