// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/compare/Condition.h"
#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// Whether a condition that names `wanted` means this kernel: by its whole name, the name without
/// parameters, or the base name.
bool namesKernel(std::string_view demangled, std::string_view wanted);

/// Whether the path of NVTX ranges "backward/layer #" lies within the range or ranges `wanted`:
/// whether `wanted` ("layer 3", "backward/layer #") stands in it, number for number sign.
bool liesInRange(std::string_view path, std::string_view wanted);

enum class ConditionState : uint8_t {
    NotMet,
    Met,
    NotComparable,  ///< It asks for a number that the runs do not have, or that nobody may trust.
    Skipped,        ///< They do not have it, and the caller said that this is fine.
};
/// "not met", "met", "not comparable", "skipped".
std::string_view name(ConditionState state);
/// For files and programs: "not_met", "met", "not_comparable", "skipped".
std::string_view identifier(ConditionState state);

/// What became of one test of a condition.
struct TestOutcome {
    ConditionState state = ConditionState::NotComparable;
    /// The numbers, in the unit of the measure's dimension, where there are any.
    std::optional<double> baseline, candidate;
    std::string finding;  ///< "step.p50 was 63.10 ms and is 77.60 ms (+14.50 ms, +23.0 %)".
};

/// What became of a condition: met if all tests hold, not met if any does not; else not comparable.
struct ConditionOutcome {
    std::string text;  ///< The condition as it was written.
    ConditionState state = ConditionState::NotComparable;
    std::vector<TestOutcome> tests;
    std::string sentence;  ///< The condition, its state and the findings, for the screen.
};

/// Looks up what the condition asks for in the pair of workers that the comparison is about.
///
/// A name that only one side has counts as zero on the other, but has no bandwidth there and no
/// percentage against a baseline of nothing. A name that neither has, steps of a run without steps,
/// and a side without events make a test not comparable; with `isMissingFine` a name that neither
/// side has only makes it skipped. Of a side that is damaged (`SummaryFacts::damage`) no test is
/// comparable, whatever its numbers are. O(contributors x tests); any thread.
ConditionOutcome evaluateCondition(const Condition& condition,
                                   const compare::RunComparison& comparison,
                                   bool isMissingFine = false);

}  // namespace lanescope::compare
