// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/TraceFormat.h"

namespace lanescope {

/// JSON of trace events, as torch.profiler writes it and `lanescope export` does, too.
extern const TraceFormat chromeFormat;

/// How much of a file of JSON is read: of one that is compressed no more than any trace becomes,
/// which are made 15 to 30 times smaller, so that what it takes follows from its size.
uint64_t mostJsonBytesOf(const TraceSource& source);

/// What NCCL Inspector writes, NVIDIA's profiler plugin for NCCL, and AMD's copy of it for RCCL.
extern const TraceFormat inspectorFormat;

/// What the profilers of JAX and TensorFlow write.
extern const TraceFormat xplaneFormat;
/// What Perfetto and those who write for it do, torch.profiler among them.
extern const TraceFormat perfettoFormat;

// SQLite files, told apart by their tables.

/// What `lanescope record` writes: the tables of Nsight Systems, and some of its own.
extern const TraceFormat lanescopeFormat;
/// What `nsys export --type sqlite` writes.
extern const TraceFormat nsightFormat;
/// What nvprof wrote, which has some tables of the same names with other columns.
extern const TraceFormat nvprofFormat;
/// What ROCm's rocprofv3 and rocprof-sys write.
extern const TraceFormat rocpdFormat;
/// What ROCm's RPD writes.
extern const TraceFormat rpdFormat;

/// What `nsys profile` writes, which only its own `nsys` reads. Where one is in PATH, it exports
/// the report as SQLite beside it, once; an export that lies there and is not older is taken as it
/// is.
extern const TraceFormat nsightReportFormat;

}  // namespace lanescope
