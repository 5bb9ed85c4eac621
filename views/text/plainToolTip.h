// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace lanescope::views {

/// `text` as a tool tip that is shown as it is. Qt takes tool tips that look like markup for
/// markup, and names from a trace file must not be able to load pictures or change how they look.
inline QString plainToolTip(const QString& text) {
    return text.isEmpty() ? QString() : QStringLiteral("<qt>%1</qt>").arg(text.toHtmlEscaped());
}

}  // namespace lanescope::views
