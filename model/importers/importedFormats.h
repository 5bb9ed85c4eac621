// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/TraceFormat.h"

namespace lanescope {

/// Returns true if a file is compressed other than by gzip, twice by gzip, or is an archive, even if parts of it are
/// readable as they are stored. A tar archive is recognized within gzip, too, as tar unpacks both at once.
bool isKnownArchive(const TraceSource& source);

/// Returns the formats that are recognized but not read: these archives, and files of other tools.
std::span<const TraceFormat> unreadableFormats();

/// JSON of trace events, as written by torch.profiler and `lanescope export`.
extern const TraceFormat chromeFormat;

/// Returns the maximum number of JSON bytes to read. Traces compress 15 to 30 times. The limit for
/// a compressed file is above that, so that the memory depends on its size.
uint64_t maxJsonBytesOf(const TraceSource& source);

/// Logs of NCCL Inspector, NVIDIA's profiler plugin for NCCL, and of AMD's version for RCCL.
extern const TraceFormat inspectorFormat;

/// Traces of the profilers of JAX and TensorFlow.
extern const TraceFormat xplaneFormat;
/// Traces of Perfetto and of programs that write its format, such as torch.profiler.
extern const TraceFormat perfettoFormat;

// SQLite files, distinguished by their tables.

/// Traces of `lanescope record`: the tables of Nsight Systems and further ones.
extern const TraceFormat lanescopeFormat;
/// Exports of `nsys export --type sqlite`.
extern const TraceFormat nsightFormat;
/// Files of nvprof, in which some tables have names of Nsight Systems and other columns.
extern const TraceFormat nvprofFormat;
/// Files of ROCm's rocprofv3 and rocprof-sys.
extern const TraceFormat rocpdFormat;
/// Files of ROCm's RPD.
extern const TraceFormat rpdFormat;
/// Databases of ROCm's rocprof before version 3, and of hipprof.
extern const TraceFormat hipFormat;

/// The report of `nsys profile`, which only `nsys` can read. If `nsys` is in PATH, it exports the
/// report once as SQLite next to it. An existing export that is not older is used as is.
extern const TraceFormat nsightReportFormat;

}  // namespace lanescope
