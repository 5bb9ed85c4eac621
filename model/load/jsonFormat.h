// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

/// JSON of trace events, as torch.profiler writes it and `lanescope export` does, too.
extern const TraceFormat chromeFormat;

}  // namespace lanescope
