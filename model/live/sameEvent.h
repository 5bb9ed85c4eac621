// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/trace/Trace.h"

namespace lanescope {

/// The event of `after` that `event` is of `before`, an earlier state of the same recording: of the
/// same kind, time and name. Invalid if there is none. O(log n) but for events of one start.
EventRef sameEvent(const Trace& before, EventRef event, const Trace& after);

}  // namespace lanescope
