// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "model/build/LoadProgress.h"
#include "model/build/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/load/json/readJsonEvents.h"

namespace lanescope {

/// Reads a JSON trace into a builder, whose path is that of the file: what torch.profiler writes,
/// and any other trace of the same form. `fractionRead` is how much of the source was read, of
/// which no more than `mostBytes` are taken. Errors: nothing of it can be read. Cancelled, it
/// leaves out events.
Result<void> readJsonTrace(const ByteSource& source, TraceBuilder& builder, unsigned threads,
                           const std::function<double()>& fractionRead,
                           const LoadProgress& progress, uint64_t mostBytes = mostJsonBytes);

/// The same of bytes, whatever they are, without other threads; damage is a note.
Result<void> readJsonTrace(std::string_view bytes, TraceBuilder& builder);

}  // namespace lanescope
