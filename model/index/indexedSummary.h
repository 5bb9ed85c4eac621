// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/Result.h"
#include "model/index/IndexFile.h"

namespace lanescope {

/// Returns the path of the summary that belongs to an index.
std::filesystem::path summaryPathOf(const std::filesystem::path& index);

/// Returns the summary of a trace that is stored next to its index. Returns nullopt if it is missing, corrupt, of
/// another version or of another state of the trace, or if it is not trusted (see `readIndex`). Reads no events. Time
/// grows with the number of steps; any thread.
std::optional<analysis::RunSummary> readIndexedSummary(const std::filesystem::path& trace);

/// Stores the summary of the default selection, for `readIndexedSummary`, next to the index of a trace or in the user's
/// cache. `source` is the identity of the trace from before it was opened. Fails if the trace changed since, if no
/// place is writable, or if the summary would not be read back as it is.
Result<void> writeIndexedSummary(const analysis::RunSummary& summary, const std::filesystem::path& trace,
                                 const SourceKey& source);

/// Returns a summary as bytes, for `unpackedSummary`. Fails if it would not be read back as it is. `trace` is for
/// errors.
Result<std::vector<std::byte>> packedSummary(const analysis::RunSummary& summary, const std::filesystem::path& trace);

/// Returns nullopt if the bytes, which may be of any origin, are no consistent summary of this version.
std::optional<analysis::RunSummary> unpackedSummary(std::span<const std::byte> bytes,
                                                    const std::filesystem::path& trace);

}  // namespace lanescope
