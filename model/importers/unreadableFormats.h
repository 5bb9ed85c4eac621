// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/TraceFormat.h"

namespace lanescope {

// Compressed files other than gzip, and files compressed twice with gzip, recognized but not read.
// A tar archive is recognized within gzip, too, as tar unpacks both at once.

/// Returns true if a file has one of these formats, even if parts of it are readable as they are stored.
bool isKnownArchive(const TraceSource& source);

extern const TraceFormat xzFormat;
extern const TraceFormat zstdFormat;
extern const TraceFormat bzip2Format;
extern const TraceFormat zipFormat;
extern const TraceFormat gzipTwiceFormat;
extern const TraceFormat tarFormat;

// Files of other tools that are recognized but not read.

/// A session of the Visual Profiler: settings without data.
extern const TraceFormat nvvpSessionFormat;
/// The result of `lanescope fleet`: a summary of many ranks.
extern const TraceFormat fleetReportFormat;
/// The log of nvprof before it wrote SQLite.
extern const TraceFormat nvprofLogFormat;
/// A memory snapshot of PyTorch (`torch.cuda.memory._dump_snapshot`).
extern const TraceFormat memorySnapshotFormat;
/// PyTorch's record of its collective operations, for the diagnosis of hangs.
extern const TraceFormat flightRecorderFormat;
/// Any other Python object in a pickle file.
extern const TraceFormat pickleFormat;

}  // namespace lanescope
