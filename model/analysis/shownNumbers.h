// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

// How a comparison writes its numbers, wherever they stand. Times of the mean step are written by
// `WorkerComparison::scale`.

/// "second", "fifth", "21st", of a number from 2 on.
std::string ordinalText(int64_t number);

/// "72.92 ms": a median, a quantile, a single step.
std::string timeText(double ns);
/// "+7.231 ms".
std::string timeDifferenceText(double ns);
/// "9.9", "+9.9", in percent; nothing rounds to "-0.0".
std::string percentText(double percent);
std::string percentDifferenceText(double percent);
/// "< 0.001" or "0.042"; with "p " before, and a "=" where it takes one.
std::string pValueText(double pValue);
std::string pValueEquation(double pValue);
/// "199.2", "0.0021": a bandwidth in GB/s.
std::string rateText(double gigabytesPerSecond);
/// A contributor's name for a sentence, printable: of work without a kernel's parameters and at
/// most some sixty characters, of idle time with all its words, since the line is among the last.
std::string shortContributorName(std::string_view name, bool isOfIdleTime = false);
/// The same of what another contributor stands in the place of: as its source calls it if both are
/// known by one name.
std::string replacedName(std::string_view name, std::string_view by, bool isOfIdleTime);
/// "12", "1,234", "0.3333": how often in a step.
std::string countText(double count);

}  // namespace lanescope::analysis
