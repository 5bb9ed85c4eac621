// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"

namespace lanescope {

/// "START:END" from the start of the session, as the timeline counts: in seconds, or with the unit
/// s, ms, us or ns ("10ms:25ms"); either may be left out ("2.5:", ":10"). A sentence for anything
/// else.
Result<TimeRange> parseRange(std::string_view text);

}  // namespace lanescope
