// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "model/assemble/LoadProgress.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/Result.h"
#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/ImportedFile.h"

namespace lanescope {

/// Default maximum of decompressed bytes, since a small file may decompress to any size.
inline constexpr uint64_t maxJsonBytes = uint64_t{64} << 30;

/// Reads an untrusted JSON trace into `events`. Up to `threads` threads scan pieces, which are
/// added in the order of the file. Reads at most `maxBytes`. Fails if no byte can be read or if
/// cancelled. Memory other than that of the events is bounded.
Result<ImportedFile> readKinetoEvents(const ByteSource& source, ImportedEvents& events, unsigned threads,
                                      const std::function<bool()>& isWanted, uint64_t maxBytes);

/// Reads a JSON trace of torch.profiler, or any trace of that form, into a builder with the path of
/// the file. `fractionRead` returns the fraction of the source that was read. Reads at most
/// `maxBytes`. Fails if nothing can be read. If cancelled, events are missing.
Result<void> readKinetoTrace(const ByteSource& source, TraceBuilder& builder, unsigned threads,
                             const std::function<double()>& fractionRead, const LoadProgress& progress,
                             uint64_t maxBytes = maxJsonBytes);

}  // namespace lanescope
