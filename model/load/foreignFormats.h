// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// Files of other tools that are known by name only.

/// What the Visual Profiler keeps of a session: settings, and no data.
extern const TraceFormat nvvpSessionFormat;
/// What `lanescope fleet` makes of the summaries of many ranks.
extern const TraceFormat fleetReportFormat;
/// What nvprof wrote before it wrote SQLite.
extern const TraceFormat nvprofLogFormat;
/// What PyTorch remembers of its memory (`torch.cuda.memory._dump_snapshot`).
extern const TraceFormat memorySnapshotFormat;
/// What PyTorch remembers of its collective operations, for when they hang.
extern const TraceFormat flightRecorderFormat;
/// Any other object of Python that was written to a file.
extern const TraceFormat pickleFormat;

}  // namespace lanescope
