// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "model/trace/Trace.h"
#include "model/values/ReportTable.h"

namespace lanescope::views {

/// Events as rows to choose from, in the given order: what, start, duration, name. Not more than
/// `maximumHitRows`, as nobody reads on.
ReportTable hitTable(const Trace& trace, std::span<const EventRef> events);
inline constexpr size_t maximumHitRows = 20'000;

}  // namespace lanescope::views
