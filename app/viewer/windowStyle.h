// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/theme/Theme.h"

namespace lanescope::viewer {

/// The style sheet of the window: flat tabs, quiet table headers, slim scroll bars.
QString windowStyle(const views::Theme& theme);

}  // namespace lanescope::viewer
