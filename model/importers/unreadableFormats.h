// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/TraceFormat.h"

namespace lanescope {

// What other packers than gzip made, and what gzip packed twice, known by name only. A tape of tar
// is known within gzip, too, as tar itself unpacks both at once.

/// Whether a file is of one of these formats, whatever of what it packs can be read as it lies.
bool isPacked(const TraceSource& source);

extern const TraceFormat xzFormat;
extern const TraceFormat zstdFormat;
extern const TraceFormat bzip2Format;
extern const TraceFormat zipFormat;
extern const TraceFormat gzipTwiceFormat;
extern const TraceFormat tarFormat;

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
