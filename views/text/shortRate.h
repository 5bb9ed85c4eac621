// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace lanescope::views {

/// A rate in GB/s with three digits, from 1000 on without a fraction: "45.3", "4814".
inline QString shortRate(double gigabytesPerSecond) {
    const bool isLarge = gigabytesPerSecond >= 1000;
    return QString::number(gigabytesPerSecond, isLarge ? 'f' : 'g', isLarge ? 0 : 3);
}

}  // namespace lanescope::views
