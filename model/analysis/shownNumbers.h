// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

// Number formats of comparisons, used everywhere. Times of the mean step are written by `WorkerComparison::scale`.

/// Returns "second", "fifth", "21st" for a number from 2 on.
std::string ordinalText(int64_t number);

/// Returns "72.92 ms" for a median, a quantile or a single step.
std::string timeText(double ns);
/// Returns "+7.231 ms".
std::string timeDifferenceText(double ns);
/// Returns "9.9" or "+9.9", in percent; never "-0.0".
std::string percentText(double percent);
std::string percentDifferenceText(double percent);
/// Returns "< 0.001" or "0.042"; the equation has "p " before it, and a "=" where needed.
std::string pValueText(double pValue);
std::string pValueEquation(double pValue);
/// Returns "199.2" or "0.0021" for a bandwidth in GB/s.
std::string rateText(double gigabytesPerSecond);
/// Returns a contributor's name for a sentence, printable. Names of work lose a kernel's parameters and are truncated
/// to some sixty characters. Names of idle time keep all words, since the line is among the last.
std::string shortContributorName(std::string_view name, bool isOfIdleTime = false);
/// Returns the same for facts.
std::string shortName(const ContributorName& name);
/// Returns the same for a contributor that was replaced by another: its name in the source if both have one known name.
std::string replacedName(const ContributorName& name, const ContributorName& by);
/// Returns "12", "1,234" or "0.3333" for a count per step.
std::string countText(double count);

}  // namespace lanescope::analysis
