// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// How often each NVTX range name occurs, and each pattern that several names share. Marks do not
/// count. O(n) in the ranges and O(n log n) in the names.
std::map<std::string, int64_t> rangeCounts(const Trace& trace);

/// Names of NVTX ranges that both traces have, most frequent first: what runs can be aligned by.
/// Names that differ in numbers also stand there together, as "step #".
std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate);

/// What ranges can be chosen by: each pattern that several names share ("step #") instead of these
/// names, and every other name; most frequent first, at most `most`. As `rangeCounts`.
std::vector<std::string> rangeChoices(const Trace& trace, size_t most);

/// That there is no range called `name`, and what there is that begins so, as often the number was
/// left out, or else the steps and what there is most: a dozen names, and how many others.
tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name);

}  // namespace lanescope
