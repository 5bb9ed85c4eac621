// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>

#include "views/theme/Theme.h"

namespace lanescope::viewer {

/// Makes the icons of the program known to Qt; call once, after QApplication exists.
void registerIcons();

/// The line icon `name` of `resources/icons` in the text colour of `theme`, sharp at any scale.
QIcon themedIcon(const QString& name, const views::Theme& theme);

/// The picture of the program itself.
QIcon applicationIcon();

/// The style sheet of the window: flat tabs, quiet table headers, slim scroll bars.
QString windowStyle(const views::Theme& theme);

}  // namespace lanescope::viewer
