// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include "model/format/Result.h"

namespace lanescope::views {
class FlamePanel;
}

namespace lanescope::viewer {

/// Writes what a flame graph shows: a picture if `path` ends in .svg, else folded text. An existing
/// file is replaced only once the new one is complete.
Result<void> exportFlameTo(const views::FlamePanel& panel, const std::filesystem::path& path);

/// Asks where to, writes it, and lets the panel say what became of it.
void askForFlame(views::FlamePanel& panel, bool isPicture);

}  // namespace lanescope::viewer
