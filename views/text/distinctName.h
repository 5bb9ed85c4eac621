// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>

namespace lanescope::views {

/// Returns `name` within a width in pixels. If it must be shortened, the part in which it differs from `other` remains:
/// "…no-p2p.sqlite" and "…nvlink.sqlite".
QString distinctName(const QString& name, const QString& other, const QFontMetrics& metrics, int width);

}  // namespace lanescope::views
