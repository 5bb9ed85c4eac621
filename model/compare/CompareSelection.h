// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Steps of every run that `lanescope compare` uses, as set by its options.
struct CompareSelection {
    std::string range;  ///< NVTX ranges that are the steps; empty to detect them.
    std::optional<StepRange> numbers = {};
    /// First step of a run: with `Warmed` the first after warm-up, with `Start` that of the run,
    /// with `Occurrence` the first that begins with or after an NVTX range.
    enum class Alignment : uint8_t { Warmed, Start, Occurrence };
    Alignment alignment = Alignment::Warmed;
    std::string alignedRange = {};
    int occurrence = 0;  ///< Occurrence of the range; 0 is its first.

    /// Returns "steps 5-20, from the first \"epoch\" on" for the screen; empty for the default.
    std::string sentence() const;
    bool isDefault() const { return sentence().empty(); }
};

/// Parses "step", "start", "RANGE" or "RANGE#2" into `selection`.
Result<void> parseAlignment(std::string_view text, CompareSelection& selection);

/// Returns the selection for one run, with the step of the alignment. Fails without such a range or a step from it on.
Result<StepSelection> stepSelectionFor(const Trace& trace, const CompareSelection& selection);

}  // namespace lanescope
