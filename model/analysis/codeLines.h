// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanescope {
struct Trace;
}

namespace lanescope::analysis {

struct WorkerSummary;

/// A line of the recorded program.
struct CodeLine {
    std::string place;  ///< "train.py:212 in GPT.forward".
    std::string line;   ///< "train.py:212".
    std::string code;   ///< Its text when it was recorded, without indentation.

    bool operator==(const CodeLine&) const = default;
};

/// Sets `WorkerSummary::code` of each worker: the lines that its contributors, kernels and distinctions name. A place
/// that two files share has no text. O(stacks + workers * contributors * log(lines)).
void addCodeLines(const Trace& trace, std::vector<WorkerSummary>& workers);

/// Returns the line with which a place ends ("launched at train.py:212 in GPT.forward"); null if unknown.
const CodeLine* codeAt(const WorkerSummary& worker, std::string_view place);

}  // namespace lanescope::analysis
