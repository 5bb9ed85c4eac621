// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// What a map of ranks and steps tells of each step.
struct LensMeasure {
    enum class Kind : uint8_t {
        OwnTime,  ///< Without waiting for ranks and exposed communication: who is late shows here.
        Time,     ///< Of the whole step, which ranks that wait for each other share.
        Part,
    };
    Kind kind = Kind::OwnTime;
    compare::StepPart part = compare::StepPart::Compute;  ///< If it is one.
    bool operator==(const LensMeasure&) const = default;
};

/// "own time", "time", "exposed HtoD copies".
std::string name(const LensMeasure& measure);
/// Nanoseconds.
int64_t valueOf(const compare::StepSummary& step, const LensMeasure& measure);
/// Own time, time, and each part that any step has. O(steps).
std::vector<LensMeasure> measuresOf(const compare::RunSummary& run);

/// From which value on a map is at its faintest and at its strongest: the least, and what one
/// value of a hundred exceeds, so that a single stall leaves the others apart.
struct LensScale {
    int64_t lowNs = 0, highNs = 0;
    /// In [0, 1].
    double shareOf(int64_t ns) const;
};
/// O(steps).
LensScale scaleOf(const compare::RunSummary& run, const LensMeasure& measure);

}  // namespace lanescope::explain
