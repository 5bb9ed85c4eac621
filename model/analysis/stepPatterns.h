// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

enum class PatternKind : uint8_t {
    Period,    ///< Every so many steps one takes longer.
    Level,     ///< From some step on all take longer, or all less.
    TwoModes,  ///< Some take longer, in no order.
    Drift,     ///< They grow or shrink all the way.
};
/// For files and programs: "period", "level", "two_modes", "drift".
std::string_view identifier(PatternKind kind);

/// What the steps of a run do that their median does not tell.
struct StepPattern {
    PatternKind kind = PatternKind::Period;
    int64_t period = 0;       ///< Of `Period`, in steps; else 0.
    int64_t firstNumber = 0;  ///< Number of the first step that it is about.
    double share = 0;         ///< Of the steps that it is about.
    /// Median of these steps less that of the others; of `Drift` the end of the run less its
    /// beginning. Negative only of `Level` and `Drift`.
    int64_t excessNs = 0;
    int64_t costNs = 0;  ///< What the mean step would take less without.
    StepPart part = StepPart::Compute;
    int64_t partExcessNs = 0;        ///< The part's share of the excess, in means: the greatest.
    std::vector<uint32_t> affected;  ///< Places of these steps in the series; of `Drift` its end.
    bool operator==(const StepPattern&) const = default;
};

/// The pattern of a series of steps of one run, in their order; nothing if there is none. At least
/// 2 % of the median, and:
///
/// - a period of 2 to 32 steps of which the series has five and more: the same place in it holds
///   the longest step at least four times in five, more than chance would have (binomial, p below
///   0.01 over all periods and places that are tried, and over `series` many series); a multiple of
///   a period is the one if its place holds the longest step at least every second time, more than
///   chance would have, and the steps lie clearly closer to the medians that it gives;
/// - two modes, with at least 15 % and five of the steps in each, that lie six of their spreads
///   apart (Ashman, Bird and Zepf, "Detecting bimodality in astronomical datasets", 1994, who call
///   two clean) with a gap between them; a level if each is on its own side of a step;
/// - a drift: the medians of the six sixths of a series of 24 and more rise each time, or fall, by
///   more than the steps spread about them.
///
/// The first of these that is there. O(n log n).
std::optional<StepPattern> patternOf(std::span<const StepSummary> steps, size_t series = 1);

}  // namespace lanescope::analysis
