// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/trace/Trace.h"
#include "model/values/kernelName.h"

namespace lanescope {

/// What a kernel is called in its source, without arguments; the short name of a slice may say more
/// (`LaunchConfig::shortName`). O(length).
inline std::string_view sourceName(const Trace& trace, const LaunchConfig& config) {
    const std::string_view whole = trace.strings.at(config.demangledName);
    return whole.empty() ? trace.strings.at(config.shortName) : kernelBaseName(whole);
}

}  // namespace lanescope
