// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "model/events/listEvents.h"
#include "model/format/Result.h"

namespace lanescope {

/// Events as lines of cells separated by tabs, under a line of headers: plain numbers in the units
/// that the headers name. Tabs and line breaks within a name become spaces.
std::string eventsAsTsv(const Trace& trace, std::span<const EventRef> events);

/// Lists what `request` asks for and writes it to `path` as CSV; the file is there only once it is
/// whole. Returns how many rows it has.
Result<int64_t> saveEventsAsCsv(const Trace& trace, const EventRequest& request,
                                const std::filesystem::path& path);

}  // namespace lanescope
