// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// ":text" in the default domain, "Domain:text" in another, as Nsight Systems names ranges.
std::string rangeLabel(const Trace& trace, StringIndex domain, StringIndex text);

/// "PushPop", "StartEnd", "Mark".
std::string_view styleName(NvtxStyle style);

}  // namespace lanescope
