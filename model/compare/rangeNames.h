#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// How often each NVTX range name occurs, and each pattern that several names share. Marks do not
/// count. O(n) in the ranges and O(n log n) in the names.
std::map<std::string, int64_t> rangeCounts(const Trace& trace);

/// That there is no range called `name`, and what there is that begins so: often the number was
/// left out.
tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name);

}  // namespace lanescope
