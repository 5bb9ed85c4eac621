// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace lanescope {

/// Receives the next piece of text; returns false to stop.
using TextSink = std::function<bool(std::string_view)>;

}  // namespace lanescope
