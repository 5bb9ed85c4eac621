// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/shortDuration.h"

#include <array>
#include <cmath>
#include <utility>

namespace lanescope::views {

QString shortDuration(int64_t ns) {
    constexpr double almost = 0.9995;  // rounds up to the next unit
    constexpr std::array<std::pair<double, const char*>, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}}};
    const double size = std::abs(static_cast<double>(ns));
    const QString sign = ns < 0 ? QString(QChar(0x2212)) : QString();
    for (const auto& [factor, name] : units) {
        if (size < factor * almost) continue;
        const double value = size / factor;
        const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        return sign + QString::number(value, 'f', decimals) + QLatin1Char(' ') + QString::fromUtf8(name);
    }
    return sign + QString::number(size, 'f', 0) + QStringLiteral(" ns");
}

QString signedDuration(int64_t ns) { return (ns > 0 ? QStringLiteral("+") : QString()) + shortDuration(ns); }

}  // namespace lanescope::views
