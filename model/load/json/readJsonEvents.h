// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/build/LoadProgress.h"
#include "model/format/ByteSource.h"
#include "model/format/Result.h"
#include "model/load/json/JsonEvents.h"
#include "model/load/json/TopLevel.h"

namespace lanescope {

/// How much is read of a file, as it unpacks: what it may become at most, also if it is small.
inline constexpr uint64_t mostJsonBytes = uint64_t{64} << 30;

/// How far a file could be read.
struct JsonFile {
    TopLevelFacts facts;
    bool isClosed = false;           ///< It ends where a trace does, and not in the middle.
    bool isBesideDamaged = false;    ///< Some of what stands beside the events.
    bool isTooLong = false;          ///< The rest of it was left.
    uint64_t bytes = 0;              ///< Unpacked.
    std::optional<Error> readError;  ///< Why there is no more of it.
};

/// Reads a trace of JSON, of which nobody vouches for a byte, into `events`. Its events are scanned
/// in pieces by up to `threads` threads, and taken in the order of the file. No more than
/// `mostBytes` are read. Fails if no byte can be read, and if it is cancelled. Memory beside the
/// events is bounded.
Result<JsonFile> readJsonEvents(const ByteSource& source, JsonEvents& events, unsigned threads,
                                const std::function<bool()>& isWanted, uint64_t mostBytes);

}  // namespace lanescope
