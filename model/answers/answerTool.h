// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/answers/Door.h"
#include "model/answers/FolderGate.h"
#include "model/explain/Explanation.h"
#include "model/format/Result.h"

namespace lanescope::answers {

/// Name of the tool that shows a range of time.
inline constexpr const char* rangeTool = "look";

/// Returns the tools with their schemas for `tools/list`. `record` and `bench` only if runs are allowed.
Json toolList(bool mayRun);

/// Returns the reason to refuse arguments of a listed tool, for its caller; empty if they fit the schema.
std::string argumentProblem(const Json& tools, std::string_view tool, const Json& arguments);

inline constexpr size_t defaultMaxTokens = 2000, highestMaxTokens = 20'000;
/// A token of English and JSON has about four bytes.
inline constexpr size_t bytesPerToken = 4;
/// Longer names and texts of a trace are shortened.
inline constexpr size_t maxTextBytes = 600;

/// Returns the answer in one line of at most that many tokens. Shortens long texts, then the longest lists, and lists
/// in its member "truncated" what was shortened. O(size * log size).
std::string limitedAnswer(Json answer, size_t maxTokens);

/// Returns the findings of the run: a header, then rows of milliseconds per step, numbers with rules, place, rank and
/// evidence. Findings about idle time at one line are one row with their sum: a rule ignores the idle time of earlier
/// ones. Those about single steps, pauses and late ranks share time with others and are rows of their own.
Json causeTable(const analysis::RunSummary& run, const explain::Explanation& explained);

/// Returns the answer of a tool that reads: one line of JSON within the limit of tokens, with caveats, questions that
/// the trace cannot answer, omitted parts, and a command for people. The argument "detail" asks for the whole answer.
/// `arguments` fit the schema. Fails with a sentence. Takes as long as opening the traces.
Result<std::string> answerTool(const std::string& tool, const Json& arguments, const FolderGate& gate);

}  // namespace lanescope::answers
