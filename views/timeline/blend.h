// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRgb>

namespace lanescope::views {

/// `over` with `share` of 1 on `under`, as if it were translucent.
inline QRgb blended(QRgb under, QRgb over, double share) {
    const int part = static_cast<int>(256 * share);
    const auto channel = [&](int below, int above) { return below + (above - below) * part / 256; };
    return qRgb(channel(qRed(under), qRed(over)), channel(qGreen(under), qGreen(over)),
                channel(qBlue(under), qBlue(over)));
}

}  // namespace lanescope::views
