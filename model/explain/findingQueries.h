// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"

namespace lanescope::explain {

/// Returns a query of the trace file for the steps of a run, in this order of SQL: their ranges, or
/// the first kernel of each. Empty if the run has no pattern of steps.
std::string stepsQuery(const analysis::RunSummary& run, std::string_view order);

/// Returns a query for ranges by their known name. The name may contain a slash itself, so only its
/// end is known; additions of a compiler or a framework may follow it.
std::string rangesQuery(std::string_view name, std::string_view order);

}  // namespace lanescope::explain
