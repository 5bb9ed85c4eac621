// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Result.h"
#include "model/live/LiveTrace.h"
#include "model/load/loadTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What there is of a trace that is still being recorded, by a copy of it, so that who records it
/// waits for nobody and no index is left beside it. Its last moments may lack names that are
/// written later. Errors and progress are those of `loadTrace`. Reads all that was written so far;
/// one thread.
Result<TracePtr> loadLiveTrace(const LiveTrace& live, const LoadProgress& progress = {});

}  // namespace lanescope
