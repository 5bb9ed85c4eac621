// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/explain/ExplainedRun.h"

namespace lanescope::views {

/// What a program does again and again, where nobody would call that a step, such as the requests
/// of a server: how many there are, how long they take, and how much of the time its GPU is idle.
/// Empty of ranges that are called steps, and without ranges. Holds names of the trace.
QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation);

}  // namespace lanescope::views
