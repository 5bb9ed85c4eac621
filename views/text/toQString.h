// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string_view>

namespace lanescope::views {

/// Text of the model, which is UTF-8, for a widget. Bytes that are no UTF-8 show as replacement
/// characters: names come from untrusted files.
inline QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace lanescope::views
