// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QImage>
#include <filesystem>

#include "model/format/Result.h"

namespace lanescope::views {

class TimelineView;

/// Returns a picture of the timeline without scroll bar, keyboard focus and pointer.
QImage pictureOf(TimelineView& view);

/// Returns a picture as PNG; empty if it cannot be one.
QByteArray pngOf(const QImage& picture);

/// Writes the timeline as a picture; the ending of `path` selects PNG or SVG. Replaces an existing
/// file only once the new one is complete. Errors: another ending, an unwritable path.
Result<void> exportPicture(TimelineView& view, const std::filesystem::path& path);

}  // namespace lanescope::views
