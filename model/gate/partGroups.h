// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/compare/StepParts.h"

namespace lanescope::gate {

/// The parts of a step that a condition calls `name`: one by its name or identifier, in any case
/// and with '_', '-' or spaces ("exposed_HtoD"), or several: "communication", "copies", "idle".
/// Empty if there is no such part.
std::vector<compare::StepPart> partsCalled(std::string_view name);

/// All names that `partsCalled` knows, for a sentence: "compute, ..., copies and idle".
std::string partNames();

}  // namespace lanescope::gate
