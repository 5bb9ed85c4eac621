// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What is asked of the Python stacks that led to events, as it is typed: "line:train.py:212",
/// "file:data.py", "function:forward". No matter the case.
struct StackTerm {
    enum class Part : uint8_t {
        Line,      ///< A line of a file: the end of its path and the number, or one of both.
        File,      ///< A part of the path of a file.
        Function,  ///< A part of the name of a function.
    };
    Part part = Part::Function;
    std::string text;   ///< In small letters; of a line the path, which may be empty.
    uint32_t line = 0;  ///< Of a line; 0 for any.
    bool operator==(const StackTerm&) const = default;
};

/// Typed text, parted into terms on stacks and the rest, with a blank between its words.
struct TypedTerms {
    std::vector<StackTerm> stack;
    std::string rest;
};

/// Takes the terms out of what was typed, wherever they stand; what a term asks for may stand in
/// quotes, with blanks in it. A word that only looks like one ("function::call", "file:") stays
/// among the rest. O(length).
TypedTerms splitTerms(std::string_view typed);

/// Which stacks of a trace have, for each of some terms, a frame that it is about. Any thread.
class StackFilter {
  public:
    /// `trace` outlives this. O(stacks * terms).
    StackFilter(const Trace& trace, const std::vector<StackTerm>& terms);

    /// Whether it lets a stack through; all if there are no terms, else not `noIndex`.
    bool holds(uint32_t stack) const { return isAny_ || (stack < holds_.size() && holds_[stack]); }
    /// The same for an event by its stack, as it is told of it (`pythonPlace`). O(log n).
    bool holds(EventRef event) const;
    bool isAny() const { return isAny_; }

  private:
    const Trace& trace_;
    bool isAny_;
    std::vector<bool> holds_;  ///< By stack.
};

}  // namespace lanescope
