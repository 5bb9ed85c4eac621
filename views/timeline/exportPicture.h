// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope::views {

class TimelineView;

/// Writes what the timeline shows as a picture; the ending of `path` chooses PNG or SVG. An
/// existing file is replaced only once the new one is complete. Errors: another ending, no place to
/// write.
Result<void> exportPicture(TimelineView& view, const std::filesystem::path& path);

}  // namespace lanescope::views
