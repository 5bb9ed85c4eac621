// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVBoxLayout>

namespace lanescope::views {

/// Returns a new layout for a widget, from top to bottom, without margins and gaps.
inline QVBoxLayout* columnIn(QWidget* widget) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

}  // namespace lanescope::views
