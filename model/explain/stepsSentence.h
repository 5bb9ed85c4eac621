// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// Which steps an explanation is of, of the worker that its findings are about, and what is in none
/// of them: `Explanation::steps`.
std::string stepsSentence(const compare::RunSummary& run);

}  // namespace lanescope::explain
