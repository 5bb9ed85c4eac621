// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// What other packers than gzip made, known by name only. A tape of tar is known within gzip, too.

extern const TraceFormat xzFormat;
extern const TraceFormat zstdFormat;
extern const TraceFormat bzip2Format;
extern const TraceFormat zipFormat;
extern const TraceFormat tarFormat;

}  // namespace lanescope
