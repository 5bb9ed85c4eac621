// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/TraceFormat.h"

namespace lanescope {

/// Text format with one line per kernel: "toy trace", then "NAME STREAM START END" in nanoseconds.
extern const TraceFormat toyFormat;

}  // namespace lanescope
