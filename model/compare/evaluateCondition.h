// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/compare/Condition.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Returns true if `wanted` matches this kernel: by its whole name, the name without parameters, or the base name.
bool namesKernel(std::string_view demangled, std::string_view wanted);

/// Returns true if a path of NVTX ranges is within `wanted`: "layer 3", "backward/layer #"; # matches numbers.
bool liesInRange(std::string_view path, std::string_view wanted);

enum class ConditionState : uint8_t {
    NotMet,
    Met,
    NotComparable,  ///< The runs have no such number, or it is not reliable.
    Skipped,        ///< The runs have no such number, and the caller allows that.
};
/// "not met", "met", "not comparable", "skipped".
std::string_view name(ConditionState state);
/// For files and programs: "not_met", "met", "not_comparable", "skipped".
std::string_view identifier(ConditionState state);

/// Result of one test of a condition.
struct TestOutcome {
    ConditionState state = ConditionState::NotComparable;
    /// The numbers, if any, in the unit of the measure's dimension.
    std::optional<double> baseline = {}, candidate = {};
    std::string finding = {};  ///< "step.p50 was 63.10 ms and is 77.60 ms (+14.50 ms, +23.0 %)".
};

/// Result of a condition: met if all tests hold, not met if any does not; else not comparable.
struct ConditionOutcome {
    std::string text;  ///< Text of the condition.
    ConditionState state = ConditionState::NotComparable;
    std::vector<TestOutcome> tests = {};
    std::string sentence = {};  ///< The condition, its state and the findings, for the screen.
};

/// Evaluates a condition on the comparison's critical pair of workers. O(contributors x tests); any thread.
///
/// A name that only one side has counts as zero on the other, but has no bandwidth there and no percentage against a
/// baseline of zero. A test is not comparable if neither side has the name, if it is about steps of a run without
/// steps, or if a side has no events. With `isMissingFine` a name that neither side has is skipped. If a side is
/// corrupt (`SummaryFacts::damage`), no test is comparable.
ConditionOutcome evaluateCondition(const Condition& condition, const compare::RunComparison& comparison,
                                   bool isMissingFine = false);

}  // namespace lanescope::compare
