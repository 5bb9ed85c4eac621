// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/load/json/JsonCursor.h"
#include "model/load/json/ScannedChunk.h"

namespace lanescope {

/// Where the scan of a piece of an array of events ended.
struct ScanEnd {
    /// Behind the last whole event, or behind the end of the array.
    size_t at = 0;
    bool isArrayEnd = false;
};

/// Scans a piece of an array of events that begins between two of them, or amid what is damaged.
/// What is damaged is passed over up to where an event begins again, and noted. An event that the
/// piece ends within is not taken; if `isLast`, nothing comes after it, and it is damaged, too.
/// The chunk holds views of `text`. Linear in the text.
ScanEnd scanEvents(std::string_view text, bool isLast, ScannedChunk& chunk);

/// Where the last event of `text` begins that does so in its last 64 KiB, as far as one can tell
/// without reading all before it; its size if none does.
size_t lastEventStart(std::string_view text);

}  // namespace lanescope
