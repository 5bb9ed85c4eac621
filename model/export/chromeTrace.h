// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the trace as Chrome trace-event JSON for Perfetto and chrome://tracing: CPU threads with
/// API calls and NVTX ranges, a process per GPU with its streams, flow events from calls to GPU
/// work. Slices of one row overlap only by nesting; others get additional rows (see ChromeRows).
/// Times are microseconds with three decimals, so no nanosecond is lost. Passes pieces of some tens
/// of kilobytes; linear in the events.
void writeChromeTrace(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
