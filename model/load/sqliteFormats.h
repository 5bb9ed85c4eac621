// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

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

}  // namespace lanescope
