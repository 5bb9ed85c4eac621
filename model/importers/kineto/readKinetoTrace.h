// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/events/ForeignEvents.h"
#include "model/importers/events/ForeignFile.h"

namespace lanescope {

/// How much is read of a file, as it unpacks: what it may become at most, also if it is small.
inline constexpr uint64_t mostJsonBytes = uint64_t{64} << 30;

/// Reads a trace of JSON, of which nobody vouches for a byte, into `events`. Its events are scanned
/// in pieces by up to `threads` threads, and taken in the order of the file. No more than
/// `mostBytes` are read. Fails if no byte can be read, and if it is cancelled. Memory beside the
/// events is bounded.
Result<JsonFile> readJsonEvents(const ByteSource& source, JsonEvents& events, unsigned threads,
                                const std::function<bool()>& isWanted, uint64_t mostBytes);

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
