// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/reports/reports.h"

namespace lanescope {

/// "START:END" from the start of the session, as the timeline counts: in seconds, or with the unit
/// s, ms, us or ns ("10ms:25ms"); either may be left out ("2.5:", ":10"). A sentence for anything
/// else.
Result<TimeRange> parseRange(std::string_view text);

/// "memcpy_bandwidth by memory, size; ...": what reports can tell their rows apart by.
std::string variantsSentence();
/// All that any report can be told apart by.
std::vector<std::string> variantNames();

/// The names of the reports that `stats` prints, told apart by `by` where a report can be; all that
/// are printed by default if none is named. Fails if none of them can be told apart so.
Result<std::vector<std::string>> reportsAsked(const std::vector<std::string>& names,
                                              const std::string& by);

/// Fails if `rangeName` is given and none of the reports is about NVTX ranges.
Result<void> checkRangeNameIsUsed(const std::vector<std::string>& reports,
                                  const std::string& rangeName);

/// Fails, saying what the trace has, if the reports would be empty for what was asked: a range of
/// time outside of the trace, or a name that no NVTX range in it has.
Result<void> checkSelection(const Trace& trace, const std::vector<std::string>& reports,
                            std::optional<TimeRange> range, const std::string& rangeName);

}  // namespace lanescope
