// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"

namespace lanescope::views {

/// A place in a trace, as typed by the user.
struct TimeTarget {
    TimeRange range = {};  ///< In trace time; empty for a single time.
    /// The number of a step, counted from 0; `stepName` is the name of the ranges that are steps,
    /// empty for the detected ones.
    std::optional<int64_t> step = {};
    std::string stepName = {};
    bool isSlowestStep = false;  ///< The longest step, whatever its number.
    bool isSingleTime() const { return !step && !isSlowestStep && range.isEmpty(); }
};

/// The context of a typed time. All in trace time.
struct TimeContext {
    TimeRange trace;
    TimeRange visible;
    int64_t originNs = 0;    ///< The 0 of the ruler.
    int64_t startUtcNs = 0;  ///< UTC at time 0, since 1970; 0 if unknown.
};

/// Parses, with or without spaces:
///     1.234 s   18.9875ms     from the ruler's 0; seconds if without a unit
///     +350 us   -2ms          from the middle of the visible range
///     50 %                    of the trace
///     12:34:56.7              the time of day (UTC), optionally after 2026-11-21
///     1.2s..1.4s   1.2s..+5ms a range of two such times; the second may be relative to the first
///     #12   #step 12          a step
///     step 12   it 12         the same; any word that does not begin with a digit
///     slowest                 the longest step
/// Units are ns, us, ms, s, min, h. Fails with a sentence for other text and for times outside the trace. O(length).
Result<TimeTarget> parseTimeTarget(std::string_view text, const TimeContext& context);

/// A typed search text, prepared for many comparisons.
class FuzzyPattern {
  public:
    explicit FuzzyPattern(std::string_view typed);

    bool isEmpty() const { return text_.empty(); }
    /// Returns how well `lowered` (see `lowerCase`) matches: 0 if not; more for contiguous
    /// matches, at starts of words and in short names. Every typed word must match, in any order,
    /// with few letters between its letters. O(length of the name).
    int score(std::string_view lowered) const;

  private:
    std::string text_;  // lowercase, separated by one space
};

}  // namespace lanescope::views
