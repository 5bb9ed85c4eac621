// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/answers/Door.h"
#include "model/answers/FolderGate.h"
#include "model/format/Result.h"

namespace lanescope::answers {

/// Returns the answer of a tool that reads: one line of JSON within the limit of tokens, with caveats, questions that
/// the trace cannot answer, shortened parts, and a command for people. `arguments` fit the schema. Fails with a
/// sentence. Takes as long as opening the traces.
Result<std::string> answerTool(const std::string& tool, const Json& arguments, const FolderGate& gate);

}  // namespace lanescope::answers
