// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/theme/Theme.h"

class QApplication;

namespace lanescope::views {

/// Gives every widget of the program the colours of `theme` (palette, Fusion style, tool tips,
/// hairline splitters). May be called again at any time; widgets repaint by themselves. GUI thread.
void applyTheme(QApplication& application, const Theme& theme);

}  // namespace lanescope::views
