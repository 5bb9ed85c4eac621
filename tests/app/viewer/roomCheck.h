// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QWidget;

namespace lanescope {

/// What of the visible widgets below `window` has too little room: texts of labels, buttons, tabs
/// and headers that are cut without an ellipsis and a tool tip, lines lower than their text,
/// widgets that stick out of their parent though nothing scrolls them, and texts that lie over each
/// other.
QStringList lackOfRoom(const QWidget& window);

}  // namespace lanescope
