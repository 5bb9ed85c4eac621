// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Which steps of every run `lanescope compare` takes, as its options say.
struct CompareSelection {
    std::string range;  ///< NVTX ranges that are the steps; empty: found.
    std::optional<StepRange> numbers;
    /// What a run's first step is: with `Warmed` the first after warm-up, with `Start` that of the
    /// run, with `Occurrence` the first that begins with or after an NVTX range.
    enum class Alignment : uint8_t { Warmed, Start, Occurrence };
    Alignment alignment = Alignment::Warmed;
    std::string alignedRange;
    int occurrence = 0;  ///< Of the range; 0 is its first.

    /// For the screen: "steps 5-20, from the first \"epoch\" on"; empty if nothing was chosen.
    std::string sentence() const;
    bool isDefault() const { return sentence().empty(); }
};

/// Reads "step", "start", "RANGE" or "RANGE#2" into `selection`; fails with a sentence.
Result<void> parseAlignment(std::string_view text, CompareSelection& selection);

/// The selection for one run: finds the step that the alignment means. Fails with a sentence that
/// names the trace if it has no such range or no step from it on.
Result<StepSelection> stepSelectionFor(const Trace& trace, const CompareSelection& selection);

}  // namespace lanescope
