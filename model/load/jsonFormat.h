// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

/// JSON of trace events, as torch.profiler writes it and `lanescope export` does, too.
extern const TraceFormat chromeFormat;

/// How much of a file of JSON is read: of one that is compressed no more than any trace becomes,
/// which are made 15 to 30 times smaller, so that what it takes follows from its size.
uint64_t mostJsonBytesOf(const TraceSource& source);

}  // namespace lanescope
