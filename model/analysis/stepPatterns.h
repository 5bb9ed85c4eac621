// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

enum class PatternKind : uint8_t {
    Period,    ///< One of every so many steps takes longer.
    Level,     ///< All steps from one on take longer, or all take less.
    TwoModes,  ///< Some take longer, in no order.
    Drift,     ///< They grow or shrink all the way.
};
/// For files and programs: "period", "level", "two_modes", "drift".
std::string_view identifier(PatternKind kind);

/// A property of a run's steps that their median does not show.
struct StepPattern {
    PatternKind kind = PatternKind::Period;
    int64_t period = 0;       ///< For `Period`, in steps; else 0.
    int64_t firstNumber = 0;  ///< Number of the first affected step.
    double share = 0;         ///< Share of the affected steps.
    /// Median of these steps minus that of the others; for `Drift` the end of the run minus its
    /// beginning. Negative only for `Level` and `Drift`.
    int64_t excessNs = 0;
    int64_t costNs = 0;  ///< Time that the mean step would save without the pattern.
    StepPart part = StepPart::Compute;
    int64_t partExcessNs = 0;             ///< Mean of `part` in the affected steps minus the others.
    std::vector<uint32_t> affected = {};  ///< Indices of the affected steps in the series; for `Drift` its end.
    bool operator==(const StepPattern&) const = default;
};

/// Returns the pattern of a series of steps of one run, in order, or nullopt. A pattern costs at least 2 % of the
/// median step. Tested in this order:
///
/// - Period: 2 to 32 steps, at least five times. One place in the period has the longest step at least four times in
///   five, more than by chance (binomial, p below 0.01 over all tested periods and places and over `series` series). A
///   multiple of a period is preferred if its place has the longest step at least every second time, more than by
///   chance, and if the steps are clearly closer to its medians.
/// - Two modes: at least 15 % and five of the steps in each, a gap between them, and means six spreads apart (Ashman,
///   Bird and Zepf, "Detecting bimodality in astronomical datasets", 1994, require two). The pattern is a level if one
///   mode is entirely before the other.
/// - Drift: the medians of the six sixths of at least 24 steps all rise, or all fall, by more than the spread of the
///   steps around them.
///
/// O(n log n).
std::optional<StepPattern> patternOf(std::span<const StepSummary> steps, size_t series = 1);

}  // namespace lanescope::analysis
