// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"

namespace lanescope::views {

/// A place in a trace, as somebody typed it.
struct TimeTarget {
    TimeRange range;  ///< In the time of the trace; empty for a moment.
    /// A step instead: its number, counted from 0, and the name of the ranges that are steps, empty
    /// for those that are found by themselves.
    std::optional<int64_t> step;
    std::string stepName;
    bool isSlowestStep = false;  ///< The step that takes longest, whatever its number.
    bool isMoment() const { return !step && !isSlowestStep && range.isEmpty(); }
};

/// What a typed time is about. All in the time of the trace.
struct TimeContext {
    TimeRange trace;
    TimeRange visible;
    int64_t originNs = 0;    ///< What the ruler calls 0.
    int64_t startUtcNs = 0;  ///< Of time 0, since 1970; 0 if unknown.
};

/// Understands, with or without spaces:
///     1.234 s   18.9875ms     from the ruler's 0; without a unit seconds
///     +350 us   -2ms          from the middle of what is visible
///     50 %                    of the trace
///     12:34:56.7              the time of day (UTC), with 2026-11-21 before it if need be
///     1.2s..1.4s   1.2s..+5ms a range of two such times; the second may count from the first
///     #12   #step 12          a step
///     step 12   it 12         the same; the word may be any that does not begin with a digit
///     slowest                 the step that takes longest
/// Units are ns, us, ms, s, min, h. Fails with a sentence for anything else and for what lies
/// outside the trace. O(length).
Result<TimeTarget> parseTimeTarget(std::string_view text, const TimeContext& context);

/// What is typed to find something by its name, made ready for many comparisons.
class FuzzyPattern {
  public:
    explicit FuzzyPattern(std::string_view typed);

    bool isEmpty() const { return words_.empty(); }
    /// How well `lowered` (see `lowerAscii`) fits: 0 if it does not, more for what is found in one
    /// piece, at the start of words and in short names. Every typed word must be found, in any
    /// order; its letters may have others between them, though not many. O(length of the name).
    int score(std::string_view lowered) const;

  private:
    std::string words_;  // lowered, with one space between two
};

/// ASCII letters in small; everything else as it is, so that UTF-8 stays UTF-8.
std::string lowerAscii(std::string_view text);

}  // namespace lanescope::views
