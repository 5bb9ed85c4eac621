// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// Files of other tools that are known by name only.

/// What the Visual Profiler keeps of a session: settings, and no data.
extern const TraceFormat nvvpSessionFormat;
/// What nvprof wrote before it wrote SQLite.
extern const TraceFormat nvprofLogFormat;

}  // namespace lanescope
