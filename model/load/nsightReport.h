// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/load/TraceFormat.h"

namespace lanescope {

/// What `nsys profile` writes, which only its own `nsys` reads. Where one is in PATH, it exports
/// the report as SQLite beside it, once; an export that lies there and is not older is taken as it
/// is.
extern const TraceFormat nsightReportFormat;

}  // namespace lanescope
