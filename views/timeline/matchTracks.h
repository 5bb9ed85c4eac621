// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <span>
#include <vector>

#include "model/trace/Track.h"

namespace lanescope::views {

/// Which tracks carry all words of `text` in title and subtitle, whatever their case. O(length of
/// all titles).
std::vector<bool> matchTracks(std::span<const Track> tracks, const QString& text);

}  // namespace lanescope::views
