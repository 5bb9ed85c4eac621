// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// Files of Protocol Buffers.

/// What Perfetto's tools and PyTorch from 2026 on write (`.pftrace`), as far as it has TrackEvents.
extern const TraceFormat perfettoFormat;
/// What the profilers of JAX and TensorFlow write.
extern const TraceFormat xplaneFormat;

}  // namespace lanescope
