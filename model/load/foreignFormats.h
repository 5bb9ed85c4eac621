// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// Files of other tools that hold no tables. None of them can be read.

/// JSON of trace events, as torch.profiler writes it and `lanescope export` does, too.
extern const TraceFormat chromeFormat;
/// What the profilers of JAX and TensorFlow write.
extern const TraceFormat xplaneFormat;

}  // namespace lanescope
