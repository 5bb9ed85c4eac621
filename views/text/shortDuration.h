// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>

namespace lanescope::views {

/// Returns a duration with three significant digits: "12.3 ms", "1.23 µs", "47 ns". Exact values are in tool tips and
/// copied text.
QString shortDuration(int64_t ns);

/// Returns the same with its sign: "+12.3 ms", "−12.3 ms".
QString signedDuration(int64_t ns);

}  // namespace lanescope::views
