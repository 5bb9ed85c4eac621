// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// Files of other tools that are known by name only.

/// What the Visual Profiler keeps of a session: settings, and no data.
extern const TraceFormat nvvpSessionFormat;
/// What Python keeps objects in, as PyTorch's memory snapshots and its flight recorder do.
extern const TraceFormat pickleFormat;
/// What nvprof wrote before it wrote SQLite.
extern const TraceFormat nvprofLogFormat;

}  // namespace lanescope
