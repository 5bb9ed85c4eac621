// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "app/completion/completions.h"

namespace lanescope::cli {

/// What options of this type name take, of those that `--help` lists apart: `REPORT`, `TABLE`. For
/// completions.
std::vector<completion::Candidate> valueLists(std::string_view typeName);

}  // namespace lanescope::cli
