// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns true for Lanescope's own threads in a recorded process. Their cost is in the warnings of the trace.
inline bool isAgentThread(const Thread& thread) {
    constexpr std::string_view ownPrefix = "lanescope-";
    return thread.name.starts_with(ownPrefix);
}

}  // namespace lanescope
