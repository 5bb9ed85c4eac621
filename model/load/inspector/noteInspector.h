// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/build/TraceBuilder.h"
#include "model/load/inspector/InspectorFile.h"

namespace lanescope {

/// Says in the trace's health what could not be read of the file, and what its times are worth.
void noteInspector(const InspectorFile& file, TraceBuilder& builder);

}  // namespace lanescope
