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

/// Parses "START:END" from the start of the session, as in the timeline: in seconds, or with the
/// unit s, ms, us or ns ("10ms:25ms"). Either may be omitted ("2.5:", ":10").
Result<TimeRange> parseRange(std::string_view text);

/// Returns "memcpy_bandwidth by memory, size; ...": the grouping variants of reports.
std::string variantsSentence();
/// Returns all variants of any report.
std::vector<std::string> variantNames();

/// Returns the names of the reports that `stats` prints, grouped by `by` if a report supports it;
/// the default reports if none is named. Fails if no report supports `by`.
Result<std::vector<std::string>> reportsAsked(const std::vector<std::string>& names, const std::string& by);

/// Fails if `rangeName` is set and no report is about NVTX ranges.
Result<void> checkRangeNameIsUsed(const std::vector<std::string>& reports, const std::string& rangeName);

/// Fails, listing the trace's content, if the reports would be empty: a range of time outside the
/// trace, or a name that no NVTX range in it has.
Result<void> checkSelection(const Trace& trace, const std::vector<std::string>& reports, std::optional<TimeRange> range,
                            const std::string& rangeName);

}  // namespace lanescope
