// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/answers/Door.h"

namespace lanescope::answers {

/// Name of the tool that shows a range of time.
inline constexpr const char* rangeTool = "look";

/// Returns the tools with their schemas for `tools/list`. `record` and `bench` only if runs are allowed.
Json toolList(bool mayRun);

/// Returns the reason to refuse arguments of a listed tool, for its caller; empty if they fit the schema.
std::string argumentProblem(const Json& tools, std::string_view tool, const Json& arguments);

}  // namespace lanescope::answers
