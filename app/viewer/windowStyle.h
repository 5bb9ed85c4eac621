// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>

#include "views/theme/Theme.h"

namespace lanescope::viewer {

/// Registers the icons of the program with Qt; call once, after QApplication exists.
void registerIcons();

/// Returns the line icon `name` of `resources/icons` in the text colour of `theme`, sharp at any scale.
QIcon themedIcon(const QString& name, const views::Theme& theme);

QIcon applicationIcon();

/// Returns the style sheet of the window: flat tabs, simple table headers, slim scroll bars.
QString windowStyle(const views::Theme& theme);

}  // namespace lanescope::viewer
