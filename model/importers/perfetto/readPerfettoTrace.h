// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"

namespace lanescope {

/// Returns true if the first bytes are packets as Perfetto writes them.
bool startsLikePerfetto(std::string_view start);

/// Reads a Perfetto trace with track events of torch.profiler or any other writer. The trace of `builder` must have the
/// path of the file, whose name can contain the rank. `fractionRead` returns the fraction of the source that was read.
/// Keeps one packet in memory at a time. Fails if nothing can be read. If cancelled, events are missing.
Result<void> readPerfettoTrace(const ByteSource& source, TraceBuilder& builder,
                               const std::function<double()>& fractionRead, const LoadProgress& progress);

}  // namespace lanescope
