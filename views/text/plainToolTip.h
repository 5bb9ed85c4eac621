// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace lanescope::views {

/// `text` as a tool tip that is shown as it is, with its lines. Qt takes tool tips that look like
/// markup for markup, and names from a trace file must not be able to load pictures or change how
/// they look.
inline QString plainToolTip(const QString& text) {
    if (text.isEmpty()) return {};
    return QStringLiteral("<qt>%1</qt>")
        .arg(text.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
}

}  // namespace lanescope::views
