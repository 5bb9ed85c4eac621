// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanescope {

/// A query whose functions each compare some 2 * 10^11 bytes without checking a clock: a machine that compares 80 bytes
/// per nanosecond is busy for three seconds with each, and for half a minute with all.
inline constexpr const char* slowQuery =
    "WITH t(x) AS (SELECT replace(hex(zeroblob(480000)), '0', 'a')), n(i) AS (VALUES (0), (1), (2), (3), (4), (5), (6),"
    " (7), (8), (9)) SELECT sum(instr(x, substr(x, 1, 480000 + i) || 'b')) FROM t, n";

}  // namespace lanescope
