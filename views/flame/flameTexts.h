// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>

#include "model/flame/FlameTree.h"

namespace lanescope::views {

// What a frame of a flame graph is told by. Any thread.

/// "12.3 ms, 4.5 %" of the time of the whole tree.
QString timeOf(const FlameTree& tree, uint32_t node);
/// The lines of the card: kind, time, shares of all and of what is shown, time of its own.
QString detailOf(const FlameTree& tree, uint32_t node, uint32_t root);
/// The frame and those around it, the innermost first, a line each, then its times: for the
/// clipboard.
QString stackOf(const FlameTree& tree, uint32_t node);
/// "3 frames, 12.3 ms, 4.5 % of GPU time".
QString textOf(const FlameTree& tree, const FlameMatches& matches);
/// What finds on a timeline what a frame stands for: `line:train.py:212`, `function:forward`, the
/// name of a kernel. Empty where nothing does.
QString searchFor(const Trace& trace, const FlameTree& tree, uint32_t node, bool isByLine);

}  // namespace lanescope::views
