// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Whether a file that begins so is of packets as Perfetto writes them.
bool startsLikePerfetto(std::string_view start);

/// Reads a Perfetto trace of track events into a builder, whose path is that of the file: what
/// torch.profiler writes, and any other. `fractionRead` is how much of the source was read. Holds
/// a packet at a time. Errors: nothing of it can be read. Cancelled, it leaves out events.
Result<void> readPerfettoTrace(const ByteSource& source, TraceBuilder& builder,
                               const std::function<double()>& fractionRead,
                               const LoadProgress& progress);

}  // namespace lanescope
