// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/importers/sqlite/LoadContext.h"

namespace lanescope {

/// Reads GPU work, calls, waits, ranges and devices of an nvprof SQLite file into a builder. Other
/// contents are noted in the health. The file is untrusted. If it cannot be read, `Database::trouble` has the cause.
void readNvprofTrace(LoadContext& load);

}  // namespace lanescope
