// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/compare/RunSummary.h"
#include "model/compare/StepParts.h"

namespace lanescope::compare {

/// What a row or a clause of a comparison is about.
struct InstanceQuery {
    StepPart part = StepPart::Compute;
    ContributorKind kind = ContributorKind::Kernel;
    std::string baselineName, candidateName;  ///< Empty where that run has nothing like it.
    std::string baselinePath, candidatePath;
};

/// Of which kind a fact is, and so what shows it.
enum class ClauseKind : uint8_t {
    Words,   ///< Nothing to see.
    Step,    ///< How long steps take: the step of either run that is nearest to its median.
    Cause,   ///< What changed: the place where `query` lost most.
    Single,  ///< A step that stands out: that step of its run, and the other run's in its place.
};
/// For files and programs: "words", "step", "cause", "single".
std::string_view identifier(ClauseKind kind);

/// A piece of a comparison's sentence and where its evidence is. All of them after each other are
/// the sentence.
struct Clause {
    std::string text;
    ClauseKind kind = ClauseKind::Words;
    std::optional<InstanceQuery> query = {};  ///< Of `Cause`.
    bool isCandidate = false;                 ///< Of `Single`: whose step.
    int64_t number = 0;                       ///< Of `Single`: the step's.
    bool hasEvidence() const { return kind != ClauseKind::Words; }
};

}  // namespace lanescope::compare
