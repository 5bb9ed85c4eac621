// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

// What other packers than gzip made, and what gzip packed twice, known by name only. A tape of tar
// is known within gzip, too, as tar itself unpacks both at once.

/// Whether a file is of one of these formats, whatever of what it packs can be read as it lies.
bool isPacked(const TraceSource& source);

extern const TraceFormat xzFormat;
extern const TraceFormat zstdFormat;
extern const TraceFormat bzip2Format;
extern const TraceFormat zipFormat;
extern const TraceFormat gzipTwiceFormat;
extern const TraceFormat tarFormat;

}  // namespace lanescope
