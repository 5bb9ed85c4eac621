// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QWidget;

namespace lanescope {

/// Returns visible widgets below `window` with too little room: texts of labels, buttons, tabs and
/// headers that are truncated without an ellipsis and a tool tip, lines lower than their text,
/// widgets that exceed their unscrolled parent, and overlapping texts.
QStringList lackOfRoom(const QWidget& window);

}  // namespace lanescope
