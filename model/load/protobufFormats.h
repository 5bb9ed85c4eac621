// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

/// What the profilers of JAX and TensorFlow write.
extern const TraceFormat xplaneFormat;
/// What Perfetto and those who write for it do, torch.profiler among them.
extern const TraceFormat perfettoFormat;

}  // namespace lanescope
